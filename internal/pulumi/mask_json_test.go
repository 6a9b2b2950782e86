// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"testing"

	. "github.com/onsi/gomega"
)

func TestThePartsOfASecretInJSONAreMasked(t *testing.T) {
	for name, test := range map[string]struct{ secret, text, want string }{
		"a text in an object": {`{"server": "hunter2hunter2"}`, "cannot decode map[server:{hunter2hunter2}]", "cannot decode map[server:{***}]"},
		"one further down":    {` [{"users": ["hunter2hunter2"]}]`, "user hunter2hunter2", "user ***"},
		"a short one":         {`{"region": "eu-1"}`, "in eu-1", "in eu-1"},
		"what is no JSON":     {`{server: hunter2hunter2}`, "hunter2hunter2", "hunter2hunter2"},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(newMasker([]string{test.secret}).apply(test.text)).To(Equal(test.want))
		})
	}
}
