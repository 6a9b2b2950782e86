// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"testing"

	. "github.com/onsi/gomega"

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
			l.did("create-replacement", thingURN, old, two)
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
