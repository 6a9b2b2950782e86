// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/tests/cloud"
)

// correct undoes the drift that a check has found.
func (l *lab) correct(program string, found *run.Drift) run.Result {
	l.Helper()
	r := l.update(program)
	r.Options.Refresh, r.Options.PreviewFirst = true, true
	for _, step := range found.Found.Steps {
		r.Options.Targets = append(r.Options.Targets, step.URN)
	}
	return l.do(l.Context(), r)
}

// What keeps Pulumi from undoing drift shows in a preview. By the time an update fails, its refresh has
// written to the state what it has found, and no check would find the drift.
func TestACorrectionThatCannotWorkLeavesTheDriftToChecks(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		resource, message string
		change            func(*cloud.Thing)
	}{
		"a replacement of a protected resource": {
			"{type: lab:Thing, properties: {name: a, value: x}, options: {protect: true}}", "marked for protection", func(t *cloud.Thing) { t.Name = "other" },
		},
		"an empty key": {
			`{type: lab:Thing, properties: {name: a, value: x, tags: {"": one}}}`, "expected property path to end with a name or index", func(t *cloud.Thing) { t.Tags[""] = "two" },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t).withProvider()
			program := l.program("\n  a: "+test.resource+"\n", "  o: x\n")
			l.given(program)
			l.edit("a", test.change)
			found := l.checked(l.driftCheck())
			state := l.state()
			result := l.correct(program, found)
			l.Expect(result.Outcome).To(Equal(run.Failed))
			l.Expect(result.Message).To(ContainSubstring(test.message))
			l.Expect(result.Refreshed).To(BeFalse())
			l.Expect(result.Changes.Updated + result.Changes.Replaced).To(BeZero())
			l.Expect(l.state()).To(Equal(state))
			l.Expect(l.checked(l.driftCheck()).Found.Digest()).To(Equal(found.Found.Digest()))
		})
	}
}

// Checks of the controller do not end drift that they cannot see: status.drift.unfinished.
func TestACorrectionThatFailsInTheUpdateHidesTheDriftFromChecks(t *testing.T) {
	t.Parallel()
	l := newLab(t).withProvider()
	program := l.program(`
  a: {type: lab:Thing, properties: {name: a, value: x, failures: {update: no luck}}}
  b: {type: lab:Thing, properties: {name: b, value: x}}
`, "  o: x\n")
	l.given(program)
	l.drift("a", "drifted")
	l.drift("b", "drifted")
	found := l.checked(l.driftCheck())
	result := l.correct(program, found)
	l.Expect(result.Outcome).To(Equal(run.Failed))
	l.Expect(result.Message).To(ContainSubstring("no luck"))
	l.Expect(result.Refreshed).To(BeTrue())
	l.Expect(l.valueOf("a")).To(Equal("drifted"))
	l.Expect(shown(l.checked(l.driftCheck()))).To(BeEmpty())

	program = l.program(`
  a: {type: lab:Thing, properties: {name: a, value: x}}
  b: {type: lab:Thing, properties: {name: b, value: x}}
`, "  o: x\n")
	l.Expect(l.correct(program, found).Outcome).To(Equal(run.Succeeded), "the same resources again")
	l.Expect(l.valueOf("a")).To(Equal("x"))
	l.Expect(l.valueOf("b")).To(Equal("x"))
}
