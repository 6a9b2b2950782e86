// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/plan"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/tests/cloud"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

// A change happens between the proposal of a random program and its update. Either exactly what
// the plan names is done, or nothing.
func TestOnlyWhatAPlanNamesIsDone(t *testing.T) {
	t.Parallel()
	heldRuns(t, 1, 2)
}

func TestOnlyWhatAPlanNamesIsDoneByManyPrograms(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	for seed := range uint64(8) {
		t.Run(fmt.Sprint("seed ", seed+2), func(t *testing.T) {
			t.Parallel()
			heldRuns(t, seed+2, 10)
		})
	}
}

// heldRuns does as many updates of a stack. Each begins with what the last one has left.
func heldRuns(t *testing.T, seed uint64, count int) {
	t.Helper()
	h := &held{lab: newLab(t).withProvider().withStack(), random: rand.New(rand.NewPCG(seed, 30)), setting: "one", password: "hunter2"}
	h.program = heldProgram{}
	next := randomProgram(h.random)
	for n := range count {
		if !h.once(fmt.Sprintf("seed %d, update %d", seed, n), next) {
			return
		}
		for next = h.program; next.yaml(h.lab) == h.program.yaml(h.lab); {
			for range 1 + h.random.IntN(3) {
				next = next.changed(h.random)
			}
		}
	}
}

// held is a stack whose updates are held to plans.
type held struct {
	*lab
	random *rand.Rand
	// program is the one that the stack is of.
	program           heldProgram
	setting, password string
}

// meantime is what happens between the proposal and the update.
type meantime struct {
	name string
	// do changes the program of the update, or anything else.
	do func(h *held, next *heldProgram)
	// refresh has both refresh. differs says that the plan is certainly another one, and same
	// that it is certainly not.
	refresh, differs, same bool
}

var meantimes = []meantime{
	{name: "nothing", same: true},
	{name: "nothing, with refresh", same: true, refresh: true},
	{name: "another program", do: func(h *held, next *heldProgram) { *next = next.changed(h.random).changed(h.random) }},
	{name: "another output", differs: true, do: func(_ *held, next *heldProgram) { next.constant += 5000 }},
	{name: "another secret output", differs: true, do: func(_ *held, next *heldProgram) { next.secret += 5000 }},
	{name: "another setting", do: func(h *held, _ *heldProgram) { h.setting += "x" }},
	{name: "another password", do: func(h *held, _ *heldProgram) { h.password += "x" }},
	{name: "another user's update", do: func(h *held, _ *heldProgram) {
		by := h.program.changed(h.random)
		result := h.lab.do(h.Context(), h.run(by, run.Update))
		h.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
		h.program = by
	}},
	{name: "drift", do: (*held).driftOne},
	{name: "drift, with refresh", refresh: true, do: (*held).driftOne},
}

// driftOne changes a thing of the stack. Those that were retained are in the cloud alone.
func (h *held) driftOne(*heldProgram) {
	shot := h.snapshot()
	urns := slices.Sorted(maps.Keys(shot.ids))
	for n, offset := 0, h.random.IntN(max(1, len(urns))); n < len(urns); n++ {
		id := shot.ids[urns[(n+offset)%len(urns)]]
		if _, exists := shot.things[id]; exists {
			h.Expect(cloud.Open(h.cloud).Edit(id, func(t *cloud.Thing) { drifted := "drifted"; t.Value = &drifted })).To(Succeed())
			return
		}
	}
}

// run is one of the program.
func (h *held) run(p heldProgram, operation run.Operation) run.Run {
	h.Helper()
	r := h.update(p.yaml(h.lab))
	r.Operation, r.PlanKey = operation, "key"
	r.Config = map[string]json.RawMessage{"setting": json.RawMessage(`"` + h.setting + `"`)}
	r.Secrets = map[string]string{"password": h.password}
	return r
}

// once proposes the program, and does the update after a change. It reports whether the state can still be used.
func (h *held) once(name string, next heldProgram) bool {
	h.Helper()
	between := meantimes[0]
	if h.random.IntN(5) < 3 {
		between = meantimes[h.random.IntN(len(meantimes))]
	}
	proposal := h.run(next, run.Propose)
	proposal.Options.Refresh = between.refresh
	if h.random.IntN(4) == 0 && h.program.has(0) && h.program.has(1) {
		proposal.Options.Targets = []string{urnOf("r0"), urnOf("r1")}
	}
	result := h.lab.do(h.Context(), proposal)
	if result.Outcome != run.Succeeded && len(proposal.Options.Targets) > 0 {
		proposal.Options.Targets = nil // one of them needs a resource that is not a target
		result = h.lab.do(h.Context(), proposal)
	}
	if isProtected(result) {
		h.Logf("%s: refused", name)
		return true
	}
	h.Expect(result.Outcome).To(Equal(run.Succeeded), "%s: %s", name, result.Message)
	made := result.Plan

	at := next
	if between.do != nil {
		between.do(h, &at)
	}
	update := h.run(at, run.Update)
	update.Options, update.Approved = proposal.Options, made.Digest()
	before := h.snapshot()
	result = h.lab.do(h.Context(), update)
	after := h.snapshot()
	text := fmt.Sprintf("%s: %s: %s %q\n%s\nprogram:\n%s\nbefore:\n%s\nplan:\n%s", name, between.name, result.Outcome, result.Message,
		string(update.Program.YAML), string(proposal.Program.YAML), h.program.yaml(h.lab), plan.Terminal(*made, 0, nil))
	h.Logf("%s: %s: %s", name, between.name, result.Outcome)
	switch {
	case len(update.Options.Targets) > 0 && isInvalidState(result):
		named := slices.Sorted(maps.Keys(after.done))
		named = slices.DeleteFunc(named, func(urn string) bool { return len(after.done[urn]) == len(before.done[urn]) })
		for _, urn := range named {
			h.Expect(made.Steps).To(ContainElement(HaveField("URN", urn)), text)
		}
		return false
	case (result.Outcome == run.PlanChanged || isProtected(result)) && !between.same:
		h.Expect(after).To(Equal(before), text)
	case result.Outcome == run.Succeeded && !between.differs:
		h.isDone(*made, before, after, text)
		if len(update.Options.Targets) == 0 {
			h.program = at
		}
	default:
		h.Expect(result.Outcome).To(BeEmpty(), text)
	}
	return true
}

// isInvalidState reports whether Pulumi has failed to write the state: it puts resources in the wrong order, or twice, if
// others than the targets have other dependencies in the program (https://github.com/pulumi/pulumi/issues/20852).
func isInvalidState(result run.Result) bool {
	return result.Outcome == run.Failed &&
		(strings.Contains(result.Message, "snapshot integrity failure") || strings.Contains(result.Message, "Duplicate resource URN"))
}

// isProtected reports whether Pulumi has refused to delete a resource: a program may lift its
// protection and leave it out at once, and the state still has it.
func isProtected(result run.Result) bool {
	return result.Outcome == run.Failed && strings.Contains(result.Message, "because it is protected")
}

// heldSnapshot is the cloud, with what was done in it by URN, and what the state knows of it.
type heldSnapshot struct {
	things map[string]cloud.Thing
	done   map[string][]string
	ids    map[string]string
	// known are the things as the state has them: an update writes back what has drifted.
	known   map[string]cloud.Thing
	outputs map[string]json.RawMessage
}

func (h *held) snapshot() heldSnapshot {
	h.Helper()
	shot := heldSnapshot{things: map[string]cloud.Thing{}, done: map[string][]string{}, ids: map[string]string{}, known: map[string]cloud.Thing{}}
	things, err := cloud.Open(h.cloud).Things()
	h.Expect(err).NotTo(HaveOccurred())
	for _, one := range things {
		shot.things[one.ID] = one
	}
	journal, err := cloud.Open(h.cloud).Journal()
	h.Expect(err).NotTo(HaveOccurred())
	for _, entry := range journal {
		if entry.Op != cloud.Read && entry.Phase == cloud.Done {
			shot.done[entry.URN] = append(shot.done[entry.URN], entry.Op)
		}
	}
	text := h.state()
	var state struct {
		Checkpoint struct {
			Latest struct {
				Resources []struct {
					URN, ID, Type string
					Delete        bool
					Outputs       map[string]json.RawMessage
				}
			}
		}
	}
	h.Expect(json.Unmarshal([]byte(text), &state)).To(Succeed())
	for _, one := range state.Checkpoint.Latest.Resources {
		switch one.Type {
		case "lab:index:Thing":
			shot.ids[one.URN] = one.ID
			shot.known[one.URN] = h.knownOf(one.ID, one.Outputs)
		case stackType:
			shot.outputs = one.Outputs
		}
	}
	return shot
}

func (h *held) knownOf(id string, outputs map[string]json.RawMessage) cloud.Thing {
	h.Helper()
	delete(outputs, "secretValue")
	text, err := json.Marshal(outputs)
	h.Expect(err).NotTo(HaveOccurred())
	known := cloud.Thing{ID: id}
	h.Expect(json.Unmarshal(text, &known)).To(Succeed())
	return known
}

// isDone expects exactly what the plan names.
func (h *held) isDone(made plan.Plan, before, after heldSnapshot, text string) {
	h.Helper()
	named := map[string]bool{}
	for _, step := range made.Steps {
		if step.Type != "lab:index:Thing" {
			continue
		}
		named[step.URN] = true
		was, is := before.things[before.ids[step.URN]], after.things[after.ids[step.URN]]
		ops := after.done[step.URN][len(before.done[step.URN]):]
		switch step.Op {
		case plan.OpCreate:
			h.Expect(ops).To(Equal([]string{cloud.Create}), text)
			h.becomes(step, cloud.Thing{}, is, text)
		case plan.OpUpdate:
			h.Expect(ops).To(Equal([]string{cloud.Update}), text)
			h.Expect(is.ID).To(Equal(was.ID), text)
			h.becomes(step, before.known[step.URN], is, text)
		case plan.OpReplace:
			h.Expect(ops).To(ContainElement(cloud.Create), text)
			h.Expect(len(slices.DeleteFunc(slices.Clone(ops), func(op string) bool { return op == cloud.Delete }))).To(Equal(1), text)
			h.becomes(step, was, is, text)
		case plan.OpDelete:
			h.Expect(ops).To(Equal([]string{cloud.Delete}), text)
			h.Expect(after.things).NotTo(HaveKey(before.ids[step.URN]), text)
		case plan.OpSame: // only options change
			h.Expect(ops).To(BeEmpty(), text)
			h.Expect(is).To(Equal(was), text)
		case plan.OpRetain:
			h.Expect(ops).To(BeEmpty(), text)
			h.Expect(after.things).To(HaveKeyWithValue(was.ID, was), text)
		default:
			h.Expect(step.Op).To(BeEmpty(), text)
		}
	}
	for urn := range after.done {
		if !named[urn] {
			h.Expect(after.done[urn]).To(Equal(before.done[urn]), "%s: %s", urn, text)
			h.Expect(after.things[after.ids[urn]]).To(Equal(before.things[before.ids[urn]]), "%s: %s", urn, text)
		}
	}
	changed := map[string]plan.Output{}
	for _, output := range made.Outputs {
		changed[output.Name] = output
	}
	for name, value := range after.outputs {
		switch output, ok := changed[name]; {
		case strings.Contains(string(value), "ciphertext"):
		case ok:
			h.Expect(string(value)).To(MatchRegexp(asShown(output.New)), "output %s: %s", name, text)
		default:
			h.Expect(string(value)).To(Equal(string(before.outputs[name])), "output %s: %s", name, text)
		}
	}
}

// becomes expects the thing to have what the step says, and otherwise what it had.
func (h *held) becomes(step plan.Step, was, is cloud.Thing, text string) {
	h.Helper()
	h.Expect(is.ID).NotTo(BeEmpty(), text)
	fields := func(one cloud.Thing) map[string]string {
		all := map[string]string{"name": string(quote(one.Name)), "tags": string(quote(one.Tags)), "tags.t": string(quote(one.Tags["t"]))}
		if one.Value != nil {
			all["value"] = string(quote(*one.Value))
		}
		return all
	}
	old, now := fields(was), fields(is)
	for _, property := range step.Properties {
		if got, ok := now[property.Path]; ok && property.Kind != plan.KindDelete {
			h.Expect(got).To(MatchRegexp(asShown(property.New)), "%s %s: %s", step.URN, property.Path, text)
		}
		for _, path := range []string{property.Path, strings.SplitN(property.Path, ".", 2)[0]} {
			delete(now, path)
			delete(old, path)
		}
		if property.Path == "tags" {
			delete(now, "tags.t")
			delete(old, "tags.t")
		}
	}
	if step.Op != plan.OpUpdate {
		return // what is not named is as it was made
	}
	h.Expect(now).To(Equal(old), "%s: %s", step.URN, text)
}

// asShown is an expression for a value as a plan shows it.
func asShown(value json.RawMessage) string {
	if string(value) == `"`+plan.Unknown+`"` {
		return ""
	}
	return "^" + strings.ReplaceAll(regexp.QuoteMeta(string(value)), regexp.QuoteMeta(plan.Unknown), ".*") + "$"
}
