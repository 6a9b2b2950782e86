// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"
	"strings"

	"github.com/flux-pulumi/pulumi-controller/internal/bounded"
	"github.com/flux-pulumi/pulumi-controller/internal/plural"
)

// A plan comes from where the program runs, which may write another one. Its digest is computed from
// what it shows. What it does not show has a digest of its own in its place, which may be of
// anything, and which nobody can compare with what is shown instead: each such place says so.

// notShown is the note on a value that is not shown as it is.
const notShown = "not shown in full"

// note is what to know of a change, as a comment at the end of its line.
func (c Change) note(notes []string) string {
	if !c.IsProven() {
		notes = append(slices.Clip(notes), notShown)
	}
	if len(notes) == 0 {
		return ""
	}
	return "  # " + strings.Join(notes, ", ")
}

// IsProven reports whether the digest of the change is of the values that are shown, or whether
// they say themselves that they are not. Where there are none, nothing says so.
func (c Change) IsProven() bool {
	return c.Digest == "" || (saysNothing(c.Old) && saysNothing(c.New) && (c.Old != nil || c.New != nil))
}

// saysNothing reports whether there is no value, or a sign that says no more than that there is one.
func saysNothing(raw []byte) bool {
	if raw == nil {
		return true
	}
	text, isText := decode(raw).(string)
	return isText && (text == bounded.Sign || text != Unknown && isSign(text) && !strings.Contains(text, "sha256:"))
}

// NotListed says which parts of the plan are only counted, "" if none are. Nobody but the run that has
// made the plan knows what they are.
func (p Plan) NotListed() string {
	properties := 0
	for _, step := range p.Steps {
		properties += step.MoreProperties
	}
	var parts []string
	for _, one := range []struct {
		count     int
		one, many string
	}{
		{p.More.Total(), "resource", "resources"}, {properties, "property", "properties"}, {p.MoreOutputs, "output", "outputs"},
		{p.MorePolicies, "violation of policies", "violations of policies"},
	} {
		if one.count > 0 {
			parts = append(parts, plural.Of(one.count, one.one, one.many))
		}
	}
	return strings.Join(parts, ", ")
}

// hasUnproven reports whether a value of the plan has the note that it is not shown in full.
func (p Plan) hasUnproven() bool {
	is := func(property Property) bool { return !property.IsProven() }
	return slices.ContainsFunc(p.Outputs, func(o Output) bool { return !o.IsProven() }) ||
		slices.ContainsFunc(p.Steps, func(s Step) bool { return slices.ContainsFunc(s.Properties, is) || slices.ContainsFunc(s.Options, is) })
}

// Unproven says in sentences what of the plan may be anything, although a person who approves the digest approves it too.
func (p Plan) Unproven() []string { return p.unproven("", `"`) }

// unproven are these sentences, with what is not listed between such marks, and the note between others.
func (p Plan) unproven(strong, quote string) (all []string) {
	if left := p.NotListed(); left != "" {
		all = append(all, strong+"Not listed: "+left+strong+". The digest is also of these, which may be anything, whatever the counts say")
	}
	if p.hasUnproven() {
		all = append(all, "The digest is also of the values that are "+quote+notShown+quote+", which may be anything")
	}
	return all
}
