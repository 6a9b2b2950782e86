// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

func raw(text string) json.RawMessage { return json.RawMessage(text) }

// TestAForgedPlanSaysWhatItDoesNotShow: what the program of a pull request writes in place of its plan, so
// that the digest stays that of the plan. Either the digest changes, or the comment says so.
func TestAForgedPlanSaysWhatItDoesNotShow(t *testing.T) {
	real := Plan{
		Steps: []Step{
			{Op: OpUpdate, URN: urnOf("open"), Type: "lab", Properties: []Property{
				{Path: "cidr", Kind: KindUpdate, Change: Change{Old: raw(`"10.0.0.0/8"`), New: raw(`"0.0.0.0/0"`)}},
			}},
			{Op: OpDelete, URN: urnOf("database"), Type: "lab"},
		},
		Outputs:  []Output{{Name: "url", Change: Change{Old: raw(`"a"`), New: raw(`"b"`)}}},
		Policies: []Policy{{Pack: "guard", Name: "no-public-access", Level: "advisory", URN: urnOf("open")}}, State: "sha256:state",
	}
	none := real.Within(Limits{Properties: 10, Value: 100})
	for name, forged := range map[string]func(p *Plan){
		"no steps, and no count of them": func(p *Plan) { p.Steps, p.More, p.MoreDigest = nil, Counts{}, none.MoreDigest },
		"steps with other counts":        func(p *Plan) { p.Steps, p.More, p.MoreDigest = nil, Counts{Options: 2}, none.MoreDigest },
		"no outputs":                     func(p *Plan) { p.Outputs, p.MoreOutputs, p.MoreOutputsDigest = nil, 0, none.MoreOutputsDigest },
		"no properties": func(p *Plan) {
			p.Steps[1].Properties, p.Steps[1].MoreDigest = nil, digestOfProperties(real.Steps[0].Properties, "")
		},
		"another value": func(p *Plan) {
			c := &p.Steps[1].Properties[0].Change
			c.Digest, c.New = c.digest(), raw(`"10.0.0.0/16"`)
		},
		"an unknown value": func(p *Plan) {
			c := &p.Steps[1].Properties[0].Change
			c.Digest, c.New = c.digest(), raw(`"[unknown]"`)
		},
		"no value": func(p *Plan) {
			c := &p.Steps[1].Properties[0].Change
			c.Digest, c.Old, c.New = c.digest(), nil, nil
		},
		"no violations, and a count of them": func(p *Plan) {
			p.Policies, p.MorePolicies, p.PoliciesDigest = nil, 1, p.Policies[0].digest()
		},
		"another output": func(p *Plan) {
			c := &p.Outputs[0].Change
			c.Digest, c.New = c.digest(), raw(`"a"`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			p := real.Within(Bounds())
			forged(&p)
			g.Expect(p.Digest()).To(Equal(real.Digest()), "the forger chose it so")
			received := p.Bounded()
			if received.Digest() != real.Digest() {
				return
			}
			comment := Comment{Plan: received, Stack: "network", Namespace: "apps"}.Markdown()
			g.Expect(comment).To(Or(ContainSubstring("**Not listed: "), ContainSubstring("  # not shown in full\n")))
			g.Expect(comment).To(ContainSubstring("which may be anything"))
			g.Expect(Terminal(received, 0, nil)).To(Or(ContainSubstring("more"), ContainSubstring("# not shown in full")))
			g.Expect(received.Unproven()).To(HaveEach(ContainSubstring("which may be anything")))
			g.Expect(received.Unproven()).NotTo(BeEmpty())
		})
	}
	honest := Comment{Plan: real.Within(Bounds()).Bounded(), Stack: "network", Namespace: "apps"}.Markdown()
	NewWithT(t).Expect(real.Within(Bounds()).Bounded().Unproven()).To(BeEmpty())
	NewWithT(t).Expect(honest).NotTo(Or(ContainSubstring("not shown"), ContainSubstring("anything"), ContainSubstring("Not listed")))
}

func TestWhichValuesAreNotShownInFull(t *testing.T) {
	digested := func(old, now string) Change {
		c := Change{New: raw(now), Digest: "sha256:01"}
		if old != "" {
			c.Old = raw(old)
		}
		return c
	}
	for name, test := range map[string]struct {
		change Change
		want   string
	}{
		"as it is":                  {Change{Old: raw(`1`), New: raw(`2`)}, "p: 1 => 2"},
		"a part of a property":      {Change{Old: raw(`1`), New: raw(`2`), Rest: "sha256:02"}, "p: 1 => 2"},
		"secret":                    {digested(`"[secret]"`, `"[secret]"`), "p: [secret] => [secret]"},
		"too big":                   {digested("", `"[too big to show: 70000 bytes]"`), "p: [too big to show: 70000 bytes]"},
		"secret in a part":          {digested("", `{"a":"x","b":"[secret]"}`), `p: {a: "x", b: [secret]}  # not shown in full`},
		"unknown, with a digest":    {digested(`"[secret]"`, `"[unknown]"`), "p: [secret] => [unknown]  # not shown in full"},
		"unknown":                   {Change{Old: raw(`1`), New: raw(`"[unknown]"`)}, "p: 1 => [unknown]"},
		"an asset":                  {Change{New: raw(`"[asset sha256:01]"`)}, "p: [asset sha256:01]"},
		"an asset, with a digest":   {digested("", `"[asset sha256:01]"`), "p: [asset sha256:01]  # not shown in full"},
		"several lines, one hidden": {digested(`"a\nb"`, `"a\nc"`), "p:  # not shown in full"},
		"members, one hidden":       {digested(`{"a":1}`, `{"a":2}`), "p:  # not shown in full"},
	} {
		t.Run(name, func(t *testing.T) {
			kind := KindUpdate
			if test.change.Old == nil {
				kind = KindAdd
			}
			NewWithT(t).Expect(test.change.rows("p", kind)[0].text).To(Equal(test.want))
		})
	}
	both := Change{Old: raw(`1`), New: raw(`[2,"[secret]"]`), Digest: "sha256:01"}.rows("p", KindUpdate, "forces replacement")
	NewWithT(t).Expect(both[0].text).To(HaveSuffix("  # forces replacement, not shown in full"))
}

func TestTheRestOfAPropertyIsPartOfTheDigest(t *testing.T) {
	g := NewWithT(t)
	with := func(rest string) Plan {
		return Plan{Outputs: []Output{{Name: "o", Change: Change{Old: raw(`"a long text"`), New: raw(`"another"`), Rest: rest}}}}
	}
	g.Expect(with("sha256:01").Digest()).NotTo(Or(Equal(with("sha256:02").Digest()), Equal(with("").Digest())))
	cut := with("sha256:01").Within(Limits{Outputs: 1, Value: 12})
	g.Expect(cut.Digest()).To(Equal(with("sha256:01").Digest()))
	g.Expect(cut.Outputs[0].Rest).To(BeEmpty())
	g.Expect(cut.Outputs[0].IsProven()).To(BeFalse())
	g.Expect(with("sha256:01").WithoutDigests().Outputs[0].Rest).To(BeEmpty())
}

func TestACommentThatIsCutSaysSo(t *testing.T) {
	g := NewWithT(t)
	wide := Plan{State: "sha256:state", Steps: []Step{{Op: OpUpdate, URN: urnOf("wide"), Type: "lab"}, {Op: OpDelete, URN: urnOf("other"), Type: "lab"}}}
	g.Expect(Comment{Plan: wide}.Markdown()).NotTo(ContainSubstring("is cut"))
	for n := range 100 {
		wide.Steps[0].Properties = append(wide.Steps[0].Properties, Property{
			Path: fmt.Sprintf("p%d", n), Kind: KindAdd, Change: Change{New: raw(`"` + strings.Repeat("x", 1000) + `"`)},
		})
	}
	comment := Comment{Plan: wide}.Markdown()
	g.Expect(comment).To(ContainSubstring("! lab wide (update)\n    ... 100 lines left out\n"))
	g.Expect(comment).To(ContainSubstring("\n\n**This comment is cut**: the change is too large for it\n\n"), "no Stack keeps it")
	many := Plan{State: "sha256:state"}
	for n := range 2000 {
		many.Steps = append(many.Steps, Step{Op: OpCreate, URN: urnOf(fmt.Sprint(n)), Type: "lab"})
	}
	comment = Comment{Plan: many}.Markdown()
	g.Expect(comment).To(And(ContainSubstring("**This comment is cut**"), MatchRegexp(`\n  \.\.\. \d+ more\n`)))
	g.Expect(len(comment)).To(BeNumerically("<=", MaxComment))
}
