// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"encoding/json"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/mask"
)

func TestAResourceThatIsAnOutputIsReadable(t *testing.T) {
	const signed = `{"4dabf18193072939515e22adb298388d":"5cf8f73096256a8f31e491e813e4eb8e",`
	for name, test := range map[string]struct{ output, want string }{
		"a resource":             {signed + `"id":"a-1","packageVersion":"","urn":"urn:a"}`, `{"id":"a-1","urn":"urn:a"}`},
		"a component":            {signed + `"packageVersion":"1.2.3","urn":"urn:a"}`, `{"packageVersion":"1.2.3","urn":"urn:a"}`},
		"in a list in an object": {`{"l":[1.50,` + signed + `"urn":"<a>"}],"packageVersion":""}`, `{"l":[1.50,{"urn":"<a>"}],"packageVersion":""}`},
		"no resource":            {`{"id":"a-1","packageVersion":""}`, `{"id":"a-1","packageVersion":""}`},
		"an asset, as Pulumi prints it": {
			`{"4dabf18193072939515e22adb298388d":"c44067f5952c0a294b673a41bacd8c17","hash":"b9"}`,
			`{"4dabf18193072939515e22adb298388d":"c44067f5952c0a294b673a41bacd8c17","hash":"b9"}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			plain, err := plainOutput(json.RawMessage(test.output))
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(plain).To(MatchJSON(test.want))
			shown, _ := showOutput(json.RawMessage(test.output), mask.New(nil), nil)
			g.Expect(string(shown)).To(Equal(test.want))
		})
	}
	_, err := plainOutput(json.RawMessage(signed))
	NewWithT(t).Expect(err).To(MatchError("an output that Pulumi has printed is not JSON"))
}
