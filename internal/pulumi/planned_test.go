// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"encoding/json"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/mask"
	"github.com/flux-pulumi/pulumi-controller/internal/plan"
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

// A password that is rotated is known only as the new one, also where the program takes it for a plain value.
func TestWhatASecretTakesThePlaceOfIsHidden(t *testing.T) {
	t.Parallel()
	value := func(text string) plannedValue { return plannedValue{shown: json.RawMessage(text), sum: text} }
	secret := plannedValue{shown: quote(plan.Secret), sum: "s", secret: true}
	w := planWriter{read: valueReader{key: []byte("key")}, mask: mask.New([]string{"canary"}), names: &autonames{}}
	for name, test := range map[string]struct{ old, now, shownOld, shownNow plannedValue }{
		"a masked value":              {old: value(`"pw-1"`), now: value(`"canary"`), shownOld: secret, shownNow: value(`"***"`)},
		"a masked value before":       {old: value(`"canary"`), now: value(`"pw-2"`), shownOld: value(`"***"`), shownNow: secret},
		"both are masked":             {old: value(`"canary"`), now: value(`"a canary"`), shownOld: value(`"***"`), shownNow: value(`"a ***"`)},
		"a value that is now secret":  {old: value(`"pw-1"`), now: secret, shownOld: secret, shownNow: secret},
		"a value that is now plain":   {old: secret, now: value(`"x"`), shownOld: secret, shownNow: value(`"x"`)},
		"a masked value that is new":  {now: value(`"canary"`), shownNow: value(`"***"`)},
		"values that are not secrets": {old: value(`"a"`), now: value(`"b"`), shownOld: value(`"a"`), shownNow: value(`"b"`)},
	} {
		g := NewWithT(t)
		change := plannedChange{path: "p", old: test.old, new: test.now}
		_, shown := w.change(change, w.isMasked([]plannedChange{change}), "")
		g.Expect(string(shown.Old)).To(Equal(string(test.shownOld.shown)), name)
		g.Expect(string(shown.New)).To(Equal(string(test.shownNow.shown)), name)
	}
}
