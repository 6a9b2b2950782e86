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
	made := planned.plan(s.mask, s.goals, s.unread != nil)
	return &made
}

// autonames are those of the last preview.
func (s *session) autonames() *autonames {
	if s.goals == nil {
		return nil
	}
	return &s.goals.names
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

// plan masks and bounds what was collected. If the secrets of the state were not read, it shows no
// values that may have one.
func (p *plannedSteps) plan(m *mask.Masker, known *goals, isUnread bool) plan.Plan {
	if known == nil {
		known = &goals{}
	}
	steps := p.withOptions()
	w := planWriter{read: p.read, mask: m, names: &known.names, withoutOld: p.withoutOld,
		isUnread: isUnread, withoutValues: p.kept > maxKeptValues || len(steps) > plan.MaxSteps}
	made := plan.Plan{MoreOutputs: p.moreOutputs}
	for _, key := range slices.Sorted(maps.Keys(steps)) {
		made.Steps = append(made.Steps, w.step(steps[key], known.changes))
	}
	isMasked := w.isMasked(p.outputs)
	for _, change := range p.outputs {
		goal := known.outputs.of(change.top)
		if change.isSame() && goal == "" {
			continue
		}
		name, shown := w.change(change, isMasked, goal)
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
	// names are those that providers have made up.
	names *autonames
	// withoutValues is set if no values are shown. isUnread is set if those are not shown that may
	// have a secret of the state, and withoutOld if only the old ones of them are not.
	withoutValues, isUnread, withoutOld bool
}

func (w planWriter) step(planned plannedStep, goals goalHashes) plan.Step {
	step, known := planned.Step, goals.of(planned.URN)
	shown, changed := w.texts(plan.MaxURN, step.URN, step.Type, step.Provider, step.ID)
	if changed {
		step.Digest = w.read.sum(w.names.sum(step.URN), step.Type, w.names.sum(step.Provider), step.ID)
	}
	step.URN, step.Type, step.Provider, step.ID = shown[0], shown[1], shown[2], shown[3]
	changes := planned.allChanges()
	isMasked := w.isMasked(changes)
	for _, change := range changes {
		if change.unnamed && change.isSame() && known.of(change.top) == "" {
			continue
		}
		path, shown := w.change(change, isMasked, known.of(change.top))
		step.Properties = append(step.Properties, plan.Property{Path: path, Kind: change.kind, Replaces: change.replaces, Change: shown})
	}
	isMasked = w.isMasked(planned.options)
	for _, change := range planned.options {
		name, shown := w.change(change, isMasked, "")
		step.Options = append(step.Options, plan.Property{Path: name, Kind: change.kind, Change: shown})
	}
	return step
}

// texts are masked and bounded texts, and whether any of them was changed.
func (w planWriter) texts(most int, texts ...string) (shown []string, changed bool) {
	for _, text := range texts {
		named, _ := w.names.show(w.mask.Apply(text))
		one := bounded.Text(named, most)
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

// change returns the path and the change as they are shown. The goal is the hash of the new
// value, with its secrets, of the property that the path is in, "" if it is not known.
func (w planWriter) change(planned plannedChange, isMasked bool, goal string) (string, plan.Change) {
	shown := plan.Change{Old: planned.old.shown, New: planned.new.shown, Secret: planned.old.secret || planned.new.secret}
	path, hidden := w.texts(plan.MaxPath, planned.path)
	hidden = hidden || shown.Secret || planned.old.partial || planned.new.partial || w.withoutValues || w.isUnread
	if isMasked {
		var ofOld, ofNew bool
		shown.Old, ofOld = w.masked(shown.Old)
		shown.New, ofNew = w.masked(shown.New)
		shown.Secret, hidden = shown.Secret || ofOld || ofNew, hidden || ofOld || ofNew
		shown = withoutOther(shown, ofOld, ofNew)
	}
	if planned.new.secret && !planned.old.secret {
		shown = withoutOther(shown, false, true) // it may have been the same value in plain text
	}
	if text, isNamed := w.names.showIn(shown.New); isNamed {
		shown.New, hidden = text, true
	}
	if w.withoutValues || ((w.isUnread || w.withoutOld) && mayHaveSecret(shown.Old)) {
		shown.Old = withoutValue(shown.Old)
	}
	if w.withoutValues || (w.isUnread && mayHaveSecret(shown.New)) {
		shown.New = withoutValue(shown.New)
	}
	switch {
	case hidden:
		shown.Digest = w.read.sum(w.names.sum(planned.path), planned.kind, planned.old.sum, w.newSum(planned.new, goal), goal)
	case goal != "" && planned.path != planned.top:
		shown.Rest = goal // the provider gets all of the property, and may name a part of what changes in it
	}
	return path[0], shown
}

// newSum is the hash of a new value, which does not depend on the names that providers make up.
// They cannot be found in what is not shown. That is in the goal.
func (w planWriter) newSum(value plannedValue, goal string) string {
	text := w.names.sum(string(value.shown))
	switch {
	case value.partial && goal != "" && w.names.any():
		return ""
	case text != string(value.shown):
		return w.read.sum(slices.Concat(value.hidden, []string{text})...)
	}
	return value.sum
}

// withoutOther hides a value that takes the place of a secret, or gives its place to one: it is probably
// one too, which nobody knows any more, or knows yet.
func withoutOther(shown plan.Change, ofOld, ofNew bool) plan.Change {
	if ofNew && !ofOld && shown.Old != nil {
		shown.Old = quote(plan.Secret)
	}
	if ofOld && !ofNew && shown.New != nil {
		shown.New = quote(plan.Secret)
	}
	return shown
}

// mayHaveSecret reports whether a value may have a secret of the state in it.
func mayHaveSecret(raw json.RawMessage) bool {
	switch value, _ := decoded(raw); value {
	case plan.Secret, plan.Unknown:
		return false
	default:
		return mask.MayHaveStateSecret(value)
	}
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
