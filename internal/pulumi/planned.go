// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/flux-pulumi/pulumi-controller/internal/bounded"
	"github.com/flux-pulumi/pulumi-controller/internal/mask"
	"github.com/flux-pulumi/pulumi-controller/internal/plan"
)

// plan is the plan of the preview, nil if none was wanted.
func (s *session) plan() *plan.Plan {
	planned := s.events.planned
	if planned == nil {
		return nil
	}
	made := planned.plan(s.mask)
	return &made
}

// valueReader reads values with the key of the run.
func (s *session) valueReader() valueReader {
	if s.planKey == nil {
		s.planKey = []byte(s.run.PlanKey)
	}
	if len(s.planKey) == 0 {
		s.planKey = make([]byte, sha256.Size)
		_, _ = rand.Read(s.planKey) // never fails
	}
	return valueReader{key: s.planKey}
}

// plan masks and bounds what was collected.
func (p *plannedSteps) plan(m *mask.Masker) plan.Plan {
	w := planWriter{read: p.read, mask: m, withoutValues: p.kept > maxKeptValues || len(p.steps) > plan.MaxSteps}
	made := plan.Plan{}
	for _, key := range slices.Sorted(maps.Keys(p.steps)) {
		made.Steps = append(made.Steps, w.step(p.steps[key]))
	}
	maskedAll := w.isMasked(p.outputs)
	for _, change := range p.outputs {
		name, shown := w.change(change, maskedAll)
		made.Outputs = append(made.Outputs, plan.Output{Name: name, Change: shown})
	}
	if p.leftOut > 0 {
		// Nobody can approve what is not known.
		made.More.Other, made.MoreDigest = p.leftOut, p.read.sum(mask.SecretText, "left out")
	}
	return made.Within(plan.Bounds())
}

// planWriter converts what was collected to what may be shown.
type planWriter struct {
	read valueReader
	mask *mask.Masker
	// withoutValues is set if the values are together too big.
	withoutValues bool
}

func (w planWriter) step(planned plannedStep) plan.Step {
	step := planned.Step
	shown, changed := w.texts(plan.MaxURN, step.URN, step.Type, step.Provider, step.ID)
	if changed {
		step.Digest = w.read.sum(step.URN, step.Type, step.Provider, step.ID)
	}
	step.URN, step.Type, step.Provider, step.ID = shown[0], shown[1], shown[2], shown[3]
	isMasked := w.isMasked(planned.changes)
	for _, change := range planned.changes {
		path, shown := w.change(change, isMasked)
		step.Properties = append(step.Properties, plan.Property{Path: path, Kind: change.kind, Replaces: change.replaces, Change: shown})
	}
	return step
}

// texts are masked and bounded texts, and whether any of them was changed.
func (w planWriter) texts(most int, texts ...string) (shown []string, changed bool) {
	for _, text := range texts {
		one := bounded.Text(w.mask.Apply(text), most)
		shown, changed = append(shown, one), changed || one != text
	}
	return shown, changed
}

// isMasked reports whether anything in the changes is to be masked. Hardly anything is, and
// to look at all of it at once is cheaper.
func (w planWriter) isMasked(changes []plannedChange) bool {
	var all strings.Builder
	for _, change := range changes {
		all.WriteString(change.path + "\x00" + string(change.old.shown) + "\x00" + string(change.new.shown) + "\x00")
	}
	return w.mask.Apply(all.String()) != all.String()
}

// change returns the path and the change as they are shown.
func (w planWriter) change(planned plannedChange, isMasked bool) (string, plan.Change) {
	shown := plan.Change{Old: planned.old.shown, New: planned.new.shown, Secret: planned.old.secret || planned.new.secret}
	path := []string{bounded.Text(planned.path, plan.MaxPath)}
	hidden := shown.Secret || planned.old.partial || planned.new.partial || path[0] != planned.path || w.withoutValues
	if isMasked {
		var ofPath, ofOld, ofNew bool
		path, ofPath = w.texts(plan.MaxPath, planned.path)
		shown.Old, ofOld = w.masked(shown.Old)
		shown.New, ofNew = w.masked(shown.New)
		shown.Secret, hidden = shown.Secret || ofOld || ofNew, hidden || ofPath || ofOld || ofNew
	}
	if w.withoutValues {
		shown.Old, shown.New = withoutValue(shown.Old), withoutValue(shown.New)
	}
	if hidden {
		shown.Digest = w.read.sum(planned.path, planned.kind, planned.old.sum, planned.new.sum)
	}
	return path[0], shown
}

// withoutValue says that there is a value which is not shown.
func withoutValue(raw json.RawMessage) json.RawMessage {
	if raw == nil {
		return nil
	}
	return quote(bounded.Sign)
}

// masked masks the texts and numbers in a value, and the names of its members, and reports
// whether any was masked.
func (w planWriter) masked(raw json.RawMessage) (json.RawMessage, bool) {
	if raw == nil {
		return nil, false
	}
	value, _ := decoded(raw)
	value = showValue(value, w.mask, nil)
	text := quote(value)
	return text, string(text) != string(raw)
}
