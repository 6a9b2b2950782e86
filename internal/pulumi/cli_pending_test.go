// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"slices"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/tests/cloud"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

// inFlight writes operations in flight into the state, by thing, as if someone had
// died during them. A thing that is not in the state is copied from a.
func (b beside) inFlight(operations map[string]string) {
	b.Helper()
	var file map[string]any
	b.Expect(json.Unmarshal([]byte(b.state()), &file)).To(Succeed())
	latest := file["checkpoint"].(map[string]any)["latest"].(map[string]any)
	known := map[string]map[string]any{}
	for _, resource := range latest["resources"].([]any) {
		known[resource.(map[string]any)["urn"].(string)] = resource.(map[string]any)
	}
	var pending []any
	for name, operation := range operations {
		resource, ok := known[urnOf(name)]
		if !ok {
			resource = maps.Clone(known[urnOf("a")])
			resource["urn"] = urnOf(name)
			delete(resource, "id")
			delete(resource, "outputs")
		}
		pending = append(pending, map[string]any{"resource": resource, "type": operation})
	}
	latest["pending_operations"] = pending
	text, err := json.Marshal(file)
	b.Expect(err).NotTo(HaveOccurred())
	writeTree(b.T, b.backend, map[string]string{".pulumi/stacks/demo/dev.json": string(text)})
}

// left is a run that died with an update of a, which has more properties, and a
// creation in flight.
func (b beside) left(more string) run.Run {
	b.Helper()
	b.given(b.thing("value: x\n      " + more))
	lost, _ := b.lost()
	b.inFlight(map[string]string{"a": "updating", "lost": "creating"})
	return lost
}

// reads waits until the provider has started to read the thing.
func (b beside) reads(name string) {
	b.Eventually(func() (bool, error) {
		journal, err := cloud.Open(b.cloud).Journal()
		return slices.ContainsFunc(journal, func(e cloud.Entry) bool { return e.Op == cloud.Read && e.Name == name }), err
	}).Should(BeTrue())
}

// If the recovery died after its refresh had cleared them from the state, nobody could
// name them.
func TestARecoveryForgetsNothingThatIsNotNamed(t *testing.T) {
	t.Parallel()
	b := newBeside(t)
	clearing := b.recovery(b.left("hold: read"))
	clearing.ClearPendingCreates = true
	b.Expect(b.killed(clearing, "pulumi").Outcome).To(Equal(run.Failed))
	b.release()

	again := b.recovery(clearing)
	again.ClearPendingCreates = true
	again.Interrupted = append(clearing.Interrupted, again.Interrupted...)
	result := b.do(t.Context(), again)
	b.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
	b.Expect(result.UnknownCreates).To(Equal([]string{urnOf("lost")}))
	b.Expect(result.Forgotten).To(BeEmpty())
	b.Expect(b.state()).To(ContainSubstring("pending_operations"))

	forget := b.update("")
	forget.Operation, forget.ClearPendingCreates, forget.UnknownCreates = run.Recover, true, result.UnknownCreates
	result = b.do(t.Context(), forget)
	b.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
	b.Expect(result.UnknownCreates).To(BeEmpty())
	b.Expect(result.Forgotten).To(Equal([]string{urnOf("lost")}))
	b.Expect(b.state()).NotTo(ContainSubstring("pending_operations"))
}

// In a refresh that runs the program, the CLI drops operations in flight from the state
// before it has refreshed their resources.
func TestAnInterruptedInspectionIsRepeated(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]bool{"with its files": false, "and whose files are lost": true} {
		t.Run(name, func(t *testing.T) {
			if !lose {
				short.Skip(t)
			}
			t.Parallel()
			b := newBeside(t)
			program := b.thing("value: x", "value: x\n      hold: read")
			b.given(program)
			b.inFlight(map[string]string{"a": "updating", "b": "updating"})
			b.drift("b", "half done")
			first := b.update(program)
			first.InspectFirst, first.Options.RunProgram = true, true
			b.Expect(b.killedAfter(first, "pulumi", func() { b.reads("b") }).Interrupted).To(BeTrue())
			b.release()
			b.Expect(b.state()).NotTo(Or(ContainSubstring("pending_operations"), ContainSubstring("half done")))
			recovery := b.recovery(first)
			recovery.InspectFirst, recovery.Options.RunProgram, recovery.Program = true, true, first.Program
			if lose {
				b.Expect(os.RemoveAll(string(b.of(first.ID)))).To(Succeed())
				for _, lock := range b.locks() {
					b.Expect(os.Remove(lock)).To(Succeed())
				}
			}
			b.newCalls()
			result := b.do(t.Context(), recovery)
			b.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
			b.Expect(b.newCalls()).To(Equal([]string{"stack export", "refresh", "stack export"}))
			b.Expect(b.state()).To(ContainSubstring("half done"))
		})
	}
}

// Whoever deletes or suspends the Stack has to know what is unresolved.
func TestARecoveryThatFailsNamesTheCreationsInFlight(t *testing.T) {
	t.Parallel()
	t.Run("in its refresh", func(t *testing.T) {
		t.Parallel()
		b := newBeside(t)
		result := b.killed(b.recovery(b.left("hold: read")), "pulumi-resource")
		b.Expect(result.Outcome).To(Equal(run.Failed), result.Message)
		b.Expect(result.UnknownCreates).To(Equal([]string{urnOf("lost")}))
		b.Expect(result.Message).To(ContainSubstring("it is not known whether these resources were created: " + urnOf("lost")))
	})
	t.Run("at a lock whose holder may be at work on them", func(t *testing.T) {
		t.Parallel()
		b := newBeside(t)
		lost := b.left("tags: {}")
		b.lock("other.json", "elsewhere", 7)
		result := b.do(t.Context(), b.recovery(lost))
		b.Expect(result.Outcome).To(Equal(run.Locked), result.Message)
		b.Expect(result.UnknownCreates).To(BeEmpty())
		b.Expect(result.Message).To(And(ContainSubstring("bob@elsewhere"), HaveSuffix(" pending in the state, left by the interrupted run or by another update: "+urnOf("lost"))))
	})
}

// Someone else's update may die at any time before ours takes the lock, also after ours
// has looked at the state. The engine merely warns, and would make the thing again.
func TestACreationThatAnotherUpdateHasLeftIsNotRepeated(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*run.Run){
		"after the inspection":                     func(r *run.Run) { r.InspectFirst = true },
		"after the inspection of a refreshing run": func(r *run.Run) { r.InspectFirst, r.Options.Refresh = true, true },
		"of a stack that is known":                 func(*run.Run) {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBeside(t)
			made := b.do(t.Context(), b.update(b.thing("value: x")))
			b.Expect(made.Outcome).To(Equal(run.Succeeded), made.Message)
			die := func() { b.inFlight(map[string]string{"b": "creating"}) }
			update := b.update(b.thing("value: y\n      delays: {update: 2s}", "value: x")) // b waits for a
			if change(&update); update.InspectFirst {
				b.reports.found = func(context.Context, run.Found) error {
					die()
					return nil
				}
			} else {
				die()
			}
			result := b.do(t.Context(), update)
			b.Expect(result.Outcome).To(Equal(run.Failed), result.Message)
			b.Expect(result.Message).To(ContainSubstring("has pending creations"))
			b.Expect(result.UnknownCreates).To(Equal([]string{urnOf("b")}))
			b.Expect(result.Interrupted).To(BeFalse())
			b.Expect(b.locks()).To(BeEmpty())
			b.Expect(b.things()).To(Equal(1))
		})
	}
}
