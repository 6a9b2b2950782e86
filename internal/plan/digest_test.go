// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/quick"

	. "github.com/onsi/gomega"
)

func urnOf(name string) string { return "urn:pulumi:dev::app::lab:index:Thing::" + name }

// example is a plan with something of everything.
func example() Plan {
	return Plan{
		Steps: []Step{
			{Op: OpReplace, URN: urnOf("a"), Type: "lab:index:Thing", Provider: "urn:pulumi:dev::app::pulumi:providers:lab::default", Properties: []Property{
				{Path: "name", Kind: KindUpdate, Replaces: true, Change: Change{Old: json.RawMessage(`"x"`), New: json.RawMessage(`"y"`)}},
				{Path: "size", Kind: KindAdd, Change: Change{New: json.RawMessage(`12345678901234567890`)}},
				{Path: "token", Kind: KindUpdate, Change: Change{
					Old: json.RawMessage(`"[secret]"`), New: json.RawMessage(`"[secret]"`), Secret: true, Digest: "sha256:01",
				}},
			}},
			{Op: OpDelete, URN: urnOf("b"), Type: "lab:index:Thing"},
			{Op: OpImport, URN: urnOf("c"), Type: "lab:index:Thing", ID: "i-1"},
		},
		Outputs:  []Output{{Name: "url", Change: Change{Old: json.RawMessage(`"https://x"`)}}},
		Inputs:   "sha256:02",
		State:    "sha256:03",
		Versions: map[string]string{"pulumi": "3.259.0", "lab": "1.0.0"},
		Policies: []Policy{{Pack: "team", Name: "no-public", Level: "advisory", Message: "it is public"}},
	}
}

// protects is the option of a resource that becomes protected, or is so no more.
func protects(is bool) []Property {
	value := func(is bool) json.RawMessage { return json.RawMessage(fmt.Sprint(is)) }
	return []Property{{Path: "protect", Kind: KindUpdate, Change: Change{Old: value(!is), New: value(is)}}}
}

// An approval names a digest: a later version of the controller must find the same.
func TestTheBytesOfTheDigestStay(t *testing.T) {
	g := NewWithT(t)
	g.Expect(Plan{}.Digest()).To(Equal("sha256:46776304502c35ebdff2e45a19bdaffb3be427e3ea45247b88c3a3ccbb7e30a9"))
	g.Expect(example().Digest()).To(Equal("sha256:bf67103db2def6aa7fb2f2729f0f6ba1a84a3d58d6742d20a623ebd6ba220ebb"))
}

func TestTheDigestChangesWithWhatWouldHappen(t *testing.T) {
	seen := map[string]string{example().Digest(): "nothing"}
	for name, change := range map[string]func(p *Plan){
		"a destroy":                    func(p *Plan) { p.Destroy = true },
		"the inputs":                   func(p *Plan) { p.Inputs = "sha256:ff" },
		"the state":                    func(p *Plan) { p.State = "sha256:ff" },
		"the version of a plugin":      func(p *Plan) { p.Versions["lab"] = "1.0.1" },
		"a plugin":                     func(p *Plan) { p.Versions["other"] = "1.0.1" },
		"a verdict":                    func(p *Plan) { p.Policies[0].Level = "mandatory" },
		"no verdict":                   func(p *Plan) { p.Policies = nil },
		"a resource that violates":     func(p *Plan) { p.Policies[0].URN = urnOf("a") },
		"more verdicts":                func(p *Plan) { p.MorePolicies, p.PoliciesDigest = 2, "sha256:0a" },
		"other verdicts":               func(p *Plan) { p.MorePolicies, p.PoliciesDigest = 2, "sha256:0b" },
		"one step less":                func(p *Plan) { p.Steps = p.Steps[:2] },
		"a step twice":                 func(p *Plan) { p.Steps = append(p.Steps, p.Steps[0]) },
		"an operation":                 func(p *Plan) { p.Steps[1].Op = OpRetain },
		"a URN":                        func(p *Plan) { p.Steps[1].URN = urnOf("d") },
		"a type":                       func(p *Plan) { p.Steps[1].Type = "lab:index:Other" },
		"a provider":                   func(p *Plan) { p.Steps[0].Provider += "x" },
		"the ID to import":             func(p *Plan) { p.Steps[2].ID = "i-2" },
		"what is deleted first":        func(p *Plan) { p.Steps[0].DeleteFirst = true },
		"a property less":              func(p *Plan) { p.Steps[0].Properties = p.Steps[0].Properties[1:] },
		"a path":                       func(p *Plan) { p.Steps[0].Properties[0].Path = "title" },
		"a kind":                       func(p *Plan) { p.Steps[0].Properties[0].Kind = KindDelete },
		"what replaces":                func(p *Plan) { p.Steps[0].Properties[0].Replaces = false },
		"an old value":                 func(p *Plan) { p.Steps[0].Properties[0].Old = json.RawMessage(`"z"`) },
		"a new value":                  func(p *Plan) { p.Steps[0].Properties[0].New = json.RawMessage(`"z"`) },
		"a value swapped":              func(p *Plan) { c := &p.Steps[0].Properties[0]; c.Old, c.New = c.New, c.Old },
		"null instead of none":         func(p *Plan) { p.Steps[0].Properties[1].Old = json.RawMessage("null") },
		"the last digit of a number":   func(p *Plan) { p.Steps[0].Properties[1].New = json.RawMessage("12345678901234567891") },
		"a number as text":             func(p *Plan) { p.Steps[0].Properties[1].New = json.RawMessage(`"12345678901234567890"`) },
		"a secret":                     func(p *Plan) { p.Steps[0].Properties[2].Digest = "sha256:ff" },
		"what is secret":               func(p *Plan) { p.Steps[0].Properties[2].Secret = false },
		"an output":                    func(p *Plan) { p.Outputs[0].New = json.RawMessage(`"https://y"`) },
		"the name of an output":        func(p *Plan) { p.Outputs[0].Name = "uri" },
		"no output":                    func(p *Plan) { p.Outputs = nil },
		"steps that were left out":     func(p *Plan) { p.MoreDigest = "sha256:ff" },
		"an option":                    func(p *Plan) { p.Steps[1].Options = protects(true) },
		"the value of an option":       func(p *Plan) { p.Steps[1].Options = protects(false) },
		"outputs that were left out":   func(p *Plan) { p.MoreOutputsDigest = "sha256:ff" },
		"properties that were dropped": func(p *Plan) { p.Steps[0].MoreDigest = "sha256:ff" },
	} {
		p := example()
		change(&p)
		digest := p.Digest()
		NewWithT(t).Expect(seen).NotTo(HaveKey(digest), "%s: the same as of %s", name, seen[digest])
		seen[digest] = name
	}
	p := example()
	p.Unbound = "archives cannot be bound"
	NewWithT(t).Expect(seen[p.Digest()]).To(Equal("nothing"))
}

func TestTheDigestIgnoresHowJSONIsWritten(t *testing.T) {
	digestOf := func(value string) string {
		return Plan{Outputs: []Output{{Name: "o", Change: Change{New: json.RawMessage(value)}}}}.Digest()
	}
	g := NewWithT(t)
	g.Expect(digestOf(`{"a":"<x>","b":[1,2]}`)).To(Equal(digestOf("{ \"b\": [1, 2],\n \"a\": \"\\u003cx\\u003e\" }")))
	g.Expect(digestOf(`{"a":1}`)).NotTo(Equal(digestOf(`{"a":1}{}`)))
	g.Expect(digestOf("{")).NotTo(Equal(digestOf("[")), "what is not JSON is not all the same")
}

// random is a random plan.
type random struct{ Plan }

func (random) Generate(r *rand.Rand, size int) reflect.Value {
	text := func(from ...string) string { return from[r.Intn(len(from))] }
	value := func() json.RawMessage {
		return []json.RawMessage{
			nil, json.RawMessage("null"), json.RawMessage(`"[secret]"`), json.RawMessage(fmt.Sprintf("%d", r.Int63())), json.RawMessage(`1.50`),
			json.RawMessage(fmt.Sprintf(`"<%0*d>"`, r.Intn(200), 1)), json.RawMessage(`{"b":[1,{"c":"ä and more than that"}],"a":{"x":true,"y":null}}`),
			json.RawMessage(`["a long text","a longer text","the longest of the texts that are in this list"]`),
		}[r.Intn(8)]
	}
	change := func() Change {
		c := Change{Old: value(), New: value()}
		if r.Intn(4) == 0 {
			c.Secret, c.Digest = true, fmt.Sprintf("sha256:%02x", r.Intn(3))
		}
		return c
	}
	p := Plan{
		Destroy: r.Intn(10) == 0, Inputs: text("", "sha256:1", "sha256:2"), State: text("", "sha256:3"),
		Versions: map[string]string{"pulumi": text("1", "2")},
	}
	for range r.Intn(6) {
		step := Step{Op: text(OpCreate, OpUpdate, OpReplace, OpDelete, OpImport, OpRetain, OpSame, "later"), URN: urnOf(text("a", "b", "c", "d", "e"))}
		for range r.Intn(5) {
			step.Properties = append(step.Properties, Property{Path: text("p", "q", "r.s", "r[0]"), Kind: text(KindAdd, KindUpdate), Change: change()})
		}
		for range r.Intn(3) {
			step.Options = append(step.Options, Property{Path: text("protect", "provider"), Kind: KindUpdate, Change: change()})
		}
		p.Steps = append(p.Steps, step)
	}
	for range r.Intn(4) {
		p.Outputs = append(p.Outputs, Output{Name: text("x", "y", "z"), Change: change()})
	}
	for range r.Intn(3) {
		p.Policies = append(p.Policies, Policy{Pack: "p", Name: text("a", "b"), Level: "advisory"})
	}
	return reflect.ValueOf(random{p})
}

func TestWhatAPolicySaysIsNotPartOfTheDigest(t *testing.T) {
	g := NewWithT(t)
	now := example()
	now.Policies[0].Message = "it is public as of 12:04"
	g.Expect(now.Digest()).To(Equal(example().Digest()))
	g.Expect(DigestOfPolicies(now.Policies)).To(Equal(DigestOfPolicies(example().Policies)))

	first, second := example(), example()
	for n, p := range []*Plan{&first, &second} {
		p.MorePolicies, p.PoliciesDigest = 1, "sha256:0a"
		p.Policies[0].Name += fmt.Sprint(n)
	}
	g.Expect(first.Digest()).To(Equal(second.Digest()), "which ones are listed depends on the order of Pulumi's events")
	g.Expect(Terminal(first, 0, nil)).To(ContainSubstring("and 1 more violation of policies"))
}

func shuffled[T any](r *rand.Rand, list []T) []T {
	list = slices.Clone(list)
	r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list
}

func TestTheDigestIsIndependentOfOrder(t *testing.T) {
	holds := func(one random, seed int64) bool {
		r, p := rand.New(rand.NewSource(seed)), one.Plan
		p.Steps, p.Outputs, p.Policies = shuffled(r, p.Steps), shuffled(r, p.Outputs), shuffled(r, p.Policies)
		for n := range p.Steps {
			p.Steps[n].Properties, p.Steps[n].Options = shuffled(r, p.Steps[n].Properties), shuffled(r, p.Steps[n].Options)
		}
		return p.Digest() == one.Digest()
	}
	NewWithT(t).Expect(quick.Check(holds, nil)).To(Succeed())
}

// A plan is approved as it is shown: packed, unpacked and cut.
func TestTheDigestSurvivesJSONAndLimits(t *testing.T) {
	holds := func(one random, a, b uint8) bool {
		most := Limits{Steps: int(a % 7), Properties: int(a / 7 % 6), Outputs: int(b % 4), Value: int(b)}
		once := one.Within(most)
		text, err := json.Marshal(once)
		if err != nil {
			return false
		}
		var read Plan
		if err := json.Unmarshal(text, &read); err != nil {
			return false
		}
		again := read.Within(Limits{Steps: int(b % 5), Properties: int(b / 5 % 5), Outputs: int(a % 3), Value: int(a / 4)})
		return once.Digest() == one.Digest() && read.Digest() == one.Digest() && again.Digest() == one.Digest() &&
			again.Counts() == one.Counts() && again.Destructive() == one.Destructive() && again.IsEmpty() == one.IsEmpty() && isWithin(once, most)
	}
	NewWithT(t).Expect(quick.Check(holds, &quick.Config{MaxCount: 500})).To(Succeed())
}

func isWithin(p Plan, most Limits) bool {
	fits := func(c Change) bool { return len(c.Old) <= max(most.Value, 5) && len(c.New) <= max(most.Value, 5) }
	ok := len(p.Steps) <= most.Steps && len(p.Outputs) <= most.Outputs
	for _, step := range p.Steps {
		ok = ok && len(step.Properties) <= most.Properties
		for _, property := range step.Properties {
			ok = ok && fits(property.Change)
		}
	}
	for _, output := range p.Outputs {
		ok = ok && fits(output.Change)
	}
	return ok
}

// Plans that differ in what is hashed have different digests.
func TestDifferentPlansHaveDifferentDigests(t *testing.T) {
	seen := map[string]string{}
	holds := func(one random) bool {
		p := one.Within(Limits{Steps: 100, Properties: 100, Outputs: 100, Value: 1 << 20}) // in order
		slices.SortFunc(p.Policies, func(a, b Policy) int { return strings.Compare(a.Name, b.Name) })
		for n := range p.Steps {
			for m := range p.Steps[n].Properties {
				hideDigested(&p.Steps[n].Properties[m].Change)
			}
		}
		for n := range p.Outputs {
			hideDigested(&p.Outputs[n].Change)
		}
		text, err := json.Marshal(p)
		before, known := seen[p.Digest()]
		seen[p.Digest()] = string(text)
		return err == nil && (!known || before == string(text))
	}
	NewWithT(t).Expect(quick.Check(holds, &quick.Config{MaxCount: 2000})).To(Succeed())
}

// hideDigested drops values that only their digest stands for.
func hideDigested(c *Change) {
	if c.Digest != "" {
		c.Old, c.New = nil, nil
	}
}
