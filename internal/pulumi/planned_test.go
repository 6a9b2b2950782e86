// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"encoding/json"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/mask"
)

func TestARandomPartIsReplacedInTexts(t *testing.T) {
	t.Parallel()
	names := &autonames{byText: map[string]string{"12345678": "urn"}}
	names.settle()
	for raw, want := range map[string]string{
		`"b-12345678"`:                        `"b-[unknown]"`,
		`12345678`:                            `12345678`,
		`{"n":12345678,"t":"12345678"}`:       `{"n":12345678,"t":"[unknown]"}`,
		`[{"b-12345678":"<&>"},112345678]`:    `[{"b-[unknown]":"<&>"},112345678]`,
		`{"large":123456789012345678901234}`:  `{"large":123456789012345678901234}`,
		`{"exact":1.50,"b-12345678":1.50e10}`: `{"b-[unknown]":1.50e10,"exact":1.50}`,
		`"other"`:                             `"other"`,
	} {
		g := NewWithT(t)
		w := planWriter{read: valueReader{key: []byte("key")}, mask: mask.New(nil), names: names}
		_, shown := w.change(plannedChange{path: "p", new: plannedValue{shown: json.RawMessage(raw)}}, false, "")
		g.Expect(string(shown.New)).To(Equal(want))
		g.Expect(shown.Digest != "").To(Equal(want != raw), "%s: what is not shown is in the digest", raw)
		_, err := json.Marshal(shown)
		g.Expect(err).NotTo(HaveOccurred())
	}
}
