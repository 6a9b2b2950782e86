// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"

	"github.com/flux-pulumi/pulumi-controller/internal/mask"
	"github.com/flux-pulumi/pulumi-controller/internal/plan"
)

func TestAPreviewReportsWhatAnUpdateWouldChange(t *testing.T) {
	for op, want := range map[string]string{
		"create": "create", "update": "update", "delete": "delete", "import": "import",
		// What the stack manages, and what the program only reads from now on.
		"read": "retain", "discard": "", "read-replacement": "",
		"same": "", "refresh": "",
	} {
		t.Run(op, func(t *testing.T) {
			g := NewWithT(t)
			s := &session{events: &events{mask: mask.New(nil), planned: &plannedSteps{}}, mask: mask.New(nil)}
			readAll(s.events, stepLine("resourcePreEvent", op, thingURN, "{}"), stepLine("resOutputsEvent", op, thingURN, "{}"))
			steps := s.plan().Steps
			if want == "" {
				g.Expect(steps).To(BeEmpty())
				return
			}
			g.Expect(steps).To(HaveLen(1))
			g.Expect(steps[0]).To(And(HaveField("Op", want), HaveField("URN", thingURN)))
		})
	}
}

// A program with a lookup reads each time.
func TestAPreviewDoesNotReportALookup(t *testing.T) {
	looked := &at{id: "1", external: true}
	l := &log{}
	l.did("read", thingURN, nil, looked)
	l.did("read", thingURN, looked, looked)
	s := &session{events: &events{mask: mask.New(nil), preview: true, planned: &plannedSteps{}}, mask: mask.New(nil)}
	readAll(s.events, l.lines...)
	steps := s.plan().Steps
	NewWithT(t).Expect(steps).To(BeEmpty())
}

// The options of a resource decide what a later update may do to it, and in which account.
func TestAPreviewReportsOptions(t *testing.T) {
	provider := func(name string) string { return "urn:pulumi:dev::demo::pulumi:providers:lab::" + name + "::1234" }
	option := func(name, kind, old, now string) plan.Property {
		return plan.Property{Path: name, Kind: kind, Change: plan.Change{Old: json.RawMessage(old), New: json.RawMessage(now)}}
	}
	one := &at{id: "1"}
	for name, test := range map[string]struct {
		op       apitype.OpType
		old, now *at
		want     string
		options  []plan.Property
	}{
		"none":              {"same", one, one, "", nil},
		"protect":           {"same", one, &at{id: "1", protect: true}, "same", []plan.Property{option("protect", "update", "false", "true")}},
		"of a component":    {"same", &at{component: true, protect: true}, &at{component: true}, "same", []plan.Property{option("protect", "update", "true", "false")}},
		"with an update":    {"update", &at{id: "1", retain: true}, one, "update", []plan.Property{option("retainOnDelete", "update", "true", "false")}},
		"of a new resource": {"create", nil, &at{protect: true}, "create", []plan.Property{{Path: "protect", Kind: "add", Change: plan.Change{New: json.RawMessage("true")}}}},
		"another provider": {"same", &at{id: "1", provider: provider("east")}, &at{id: "1", provider: provider("west")}, "same", []plan.Property{
			option("provider", "update", `"urn:pulumi:dev::demo::pulumi:providers:lab::east"`, `"urn:pulumi:dev::demo::pulumi:providers:lab::west"`),
		}},
		"another version":   {"same", &at{id: "1", provider: provider("default_1_0_0")}, &at{id: "1", provider: provider("default_1_1_0")}, "", nil},
		"of no target":      {"same", nil, &at{protect: true}, "", nil},
		"what is deleted":   {"delete", &at{id: "1", provider: provider("east")}, nil, "delete", nil},
		"what is only read": {"read", nil, &at{id: "1", protect: true, external: true}, "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			g, l := NewWithT(t), &log{}
			l.did(test.op, thingURN, test.old, test.now)
			s := &session{events: &events{mask: mask.New(nil), preview: true, planned: &plannedSteps{}}, mask: mask.New(nil)}
			readAll(s.events, l.lines...)
			steps := s.plan().Steps
			if test.want == "" {
				g.Expect(steps).To(BeEmpty())
				return
			}
			g.Expect(steps).To(Equal([]plan.Step{{Op: test.want, URN: thingURN, Type: "lab:index:Thing", Provider: "p", Options: test.options}}))
		})
	}
}

func TestAPreviewReportsReplacements(t *testing.T) {
	one, two := &at{id: "1"}, &at{id: "2"}
	for name, test := range map[string]struct {
		events func(l *log)
		want   plan.Step
	}{
		"that delete last": {func(l *log) {
			old := &at{id: "1", delete: true}
			l.did("create-replacement", thingURN, old, two)
			l.did("replace", thingURN, old, two)
			l.did("delete-replaced", thingURN, old, nil)
		}, plan.Step{Op: "replace"}},
		"that delete first": {func(l *log) {
			l.did("delete-replaced", thingURN, one, nil)
			l.did("replace", thingURN, one, two)
			l.did("create-replacement", thingURN, one, two)
		}, plan.Step{Op: "replace", DeleteFirst: true}},
		"that create what an earlier run has deleted": {func(l *log) {
			l.did("replace", thingURN, one, two)
			l.did("create-replacement", thingURN, one, two)
		}, plan.Step{Op: "create"}},
		"that leave the old one in place": {func(l *log) {
			old := &at{id: "1", delete: true, retain: true}
			l.did("create-replacement", thingURN, old, &at{id: "2", retain: true})
			l.did("delete-replaced", thingURN, old, nil)
		}, plan.Step{Op: "replace"}},
		"of an earlier run, which only deletes now": {func(l *log) {
			l.did("same", thingURN, two, two)
			l.did("delete-replaced", thingURN, &at{id: "1", delete: true}, nil)
		}, plan.Step{Op: "delete"}},
		"and deletions that leave it in place": {func(l *log) {
			l.did("delete", thingURN, &at{id: "1", retain: true}, nil)
		}, plan.Step{Op: "retain"}},
	} {
		t.Run(name, func(t *testing.T) {
			l := &log{}
			test.events(l)
			s := &session{events: &events{mask: mask.New(nil), preview: true, planned: &plannedSteps{}}, mask: mask.New(nil)}
			readAll(s.events, l.lines...)
			steps := s.plan().Steps
			test.want.URN, test.want.Type, test.want.Provider = thingURN, "lab:index:Thing", "p"
			NewWithT(t).Expect(steps).To(Equal([]plan.Step{test.want}))
		})
	}
}

func TestTheOutputsThatWereDoneAreBounded(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	event := &stepEvent{}
	event.Metadata.New = &stepState{Outputs: map[string]json.RawMessage{"small": json.RawMessage(`"x"`)}}
	p := &plannedSteps{read: valueReader{key: []byte("key"), done: true}, done: true}
	p.noteOutputs(event)
	g.Expect(p.outputs).To(HaveLen(1))
	for n := range 200 {
		event.Metadata.New.Outputs[fmt.Sprint(n)] = quote(strings.Repeat("x", 60<<10))
	}
	p.noteOutputs(event)
	g.Expect(p.kept).To(BeNumerically("<=", maxDoneSize))
	g.Expect(p.plan(mask.New(nil), nil, false).MoreOutputs).To(Equal(201))
}
