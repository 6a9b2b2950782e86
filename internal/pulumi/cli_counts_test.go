// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"fmt"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

// listedIDs are the IDs in the inventory of the things with these names.
func listedIDs(result run.Result) map[string]string {
	ids := map[string]string{}
	if result.Inventory == nil {
		return nil
	}
	for _, one := range result.Inventory.Resources {
		if one.Type == "lab:index:Thing" {
			ids[shortName(one.URN)] = one.ID
		}
	}
	return ids
}

func (l *lab) previewed(program string) run.Result {
	l.Helper()
	r := l.update(program)
	r.Operation, r.WantsPlan = run.Preview, true
	result := l.do(l.Context(), r)
	l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
	return result
}

func TestAResourceThatTheProgramOnlyReadsIsRetained(t *testing.T) {
	t.Parallel()
	l := newLab(t).withProvider()
	made := l.do(t.Context(), l.update(l.thing("value: x")))
	l.Expect(made.Outcome).To(Equal(run.Succeeded), made.Message)
	reads := l.thing() + "  a:\n    type: lab:index:Thing\n    get: {id: " + listedIDs(made)["lab:index:Thing (a)"] + "}\n"
	l.Expect(l.previewed(reads).Changes).To(Equal(run.Changes{Retained: 1, Same: 1}))
	result := l.do(t.Context(), l.update(reads))
	l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
	l.Expect(result.Changes).To(Equal(run.Changes{Retained: 1, Same: 1}))
	l.Expect(l.things()).To(Equal(1))
	result = l.do(t.Context(), l.update(reads))
	l.Expect(result.Changes).To(Equal(run.Changes{Same: 1}), result.Message)
}

// https://github.com/pulumi/pulumi/issues/16629
func TestAReplacementThatOnlyDeletesIsADeletion(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	l := newLab(t).withProvider().withStack()
	program := func(properties string) string {
		return l.thing("value: x") + fmt.Sprintf("  b:\n    type: lab:index:Thing\n    properties: {%s}\n    options: {deleteBeforeReplace: true}\n", properties)
	}
	good, bad := program("name: b"), program(`name: c, failures: {create: no such tier}`)
	result := l.do(t.Context(), l.update(good))
	l.Expect(result.Changes).To(Equal(run.Changes{Created: 3}), result.Message)
	l.Expect(listedIDs(result)).To(HaveLen(2))

	l.Expect(l.previewed(bad).Changes).To(Equal(run.Changes{Replaced: 1, Same: 2}))
	result = l.do(t.Context(), l.update(bad))
	l.Expect(result.Outcome).To(Equal(run.Failed))
	l.Expect(result.Message).To(ContainSubstring("no such tier"))
	l.Expect(result.Changes).To(Equal(run.Changes{Deleted: 1, Same: 2}))
	l.Expect(l.things()).To(Equal(1))
	l.Expect(listedIDs(result)).To(HaveLen(1))
	l.Expect(result.Inventory.Gone).To(ConsistOf(urnOf("b")))

	preview := l.previewed(good)
	l.Expect(preview.Changes).To(Equal(run.Changes{Created: 1, Same: 2}))
	l.Expect(preview.Plan.Steps).To(ConsistOf(And(HaveField("Op", "create"), HaveField("URN", urnOf("b")))))
	result = l.do(t.Context(), l.update(good))
	l.Expect(result.Changes).To(Equal(run.Changes{Created: 1, Same: 2}), result.Message)
	l.Expect(listedIDs(result)).To(HaveLen(2))
	l.Expect(l.things()).To(Equal(2))

	l.Expect(l.do(t.Context(), l.update(bad)).Changes.Deleted).To(Equal(1))
	result = l.do(t.Context(), l.destroy())
	l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
	l.Expect(result.Changes).To(Equal(run.Changes{Deleted: 2}), "what is gone already is not deleted again")
}

// https://github.com/pulumi/pulumi/issues/13428
func TestWhatIsRetainedIsNotDeleted(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	l := newLab(t).withProvider()
	program := func(name string) string {
		return l.thing("value: x") + "  b:\n    type: lab:index:Thing\n    properties: {name: " + name + "}\n    options: {retainOnDelete: true}\n"
	}
	l.given(l.thing("value: x", "value: x"))
	result := l.do(t.Context(), l.update(program("second")))
	l.Expect(result.Changes).To(Equal(run.Changes{Replaced: 1, Same: 2}), "the option is not in the state yet")
	l.Expect(l.things()).To(Equal(2))

	preview := l.previewed(program("third"))
	l.Expect(preview.Changes).To(Equal(run.Changes{Replaced: 1, Retained: 1, Same: 2}))
	l.Expect(preview.Plan.Steps).To(ConsistOf(And(HaveField("Op", "replace"), HaveField("Properties", ConsistOf(And(HaveField("Path", "name"), HaveField("Replaces", true)))))))
	result = l.do(t.Context(), l.update(program("third")))
	l.Expect(result.Changes).To(Equal(run.Changes{Replaced: 1, Retained: 1, Same: 2}), result.Message)
	l.Expect(l.things()).To(Equal(3))
	l.Expect(listedIDs(result)).To(HaveLen(2))

	result = l.do(t.Context(), l.destroy())
	l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
	l.Expect(result.Changes).To(Equal(run.Changes{Deleted: 2, Retained: 1}))
	l.Expect(l.things()).To(Equal(2))
}

func TestWhatIsThereIsCounted(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	l := newLab(t).withProvider().withStack()
	result := l.do(t.Context(), l.update(l.thing("value: x", "failures: {partialCreate: not ready}")))
	l.Expect(result.Outcome).To(Equal(run.Failed))
	l.Expect(result.Changes).To(Equal(run.Changes{Created: 3}), "it exists, and is in the state")
	l.Expect(listedIDs(result)).To(HaveLen(2))

	// c is no target: Pulumi reports it as unchanged, and does not create it.
	r := l.update(l.thing("value: y", "value: x", "value: x"))
	r.Options.Targets = []string{urnOf("a")}
	result = l.do(t.Context(), r)
	l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
	l.Expect(result.Changes).To(Equal(run.Changes{Updated: 1, Same: 2}))
	l.Expect(listedIDs(result)).To(HaveLen(2))
	l.Expect(l.things()).To(Equal(2))
}
