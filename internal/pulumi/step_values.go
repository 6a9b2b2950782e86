// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/plugin"

	"github.com/flux-pulumi/pulumi-controller/internal/plan"
)

// plannedChange is the change of a property or output, before it is masked.
type plannedChange struct {
	// path of the property, or name of the output. top is the name of the property that it
	// is in.
	path, top string
	kind      string
	replaces  bool
	old, new  plannedValue
	// unnamed says that the provider does not name it among what changes.
	unnamed bool
}

func sizeOf(changes []plannedChange) int {
	size := 0
	for _, one := range changes {
		size += len(one.old.shown) + len(one.new.shown) + len(one.path)
	}
	return size
}

// changes are the properties that a step changes, or that a resource is created with.
func (r valueReader) changes(event *stepEvent, op string) []plannedChange {
	meta := event.Metadata
	switch op {
	case plan.OpCreate, plan.OpImport:
		return r.created(meta.New)
	case plan.OpUpdate, plan.OpReplace:
		named := r.named(event)
		if len(meta.DetailedDiff) > 0 {
			named = r.detailed(event)
		}
		return append(named, r.unnamed(event, named)...)
	}
	return nil
}

func (r valueReader) created(state *stepState) []plannedChange {
	if state == nil {
		return nil
	}
	var all []plannedChange
	for _, name := range slices.Sorted(maps.Keys(state.Inputs)) {
		all = append(all, r.hide(state, []any{name}, plannedChange{path: name, top: name, kind: plan.KindAdd, new: r.value(decoded(state.Inputs[name]))}))
	}
	return all
}

// detailed are the properties that the provider names. By Pulumi's rule, it compares the
// new inputs with the old outputs, if it does not say that it has compared the inputs.
func (r valueReader) detailed(event *stepEvent) []plannedChange {
	meta := event.Metadata
	old, now := stateOf(meta.Old), stateOf(meta.New)
	oldInputs, oldOutputs := properties{raw: old.Inputs}, properties{raw: old.Outputs}
	inputs, outputs := properties{raw: now.Inputs}, properties{raw: now.Outputs}
	var all []plannedChange
	for _, path := range slices.Sorted(maps.Keys(meta.DetailedDiff)) {
		diff := meta.DetailedDiff[path]
		kind, replaces := strings.CutSuffix(string(diff.Kind), "-replace")
		text := withEmptyNames(path)
		elements := elementsOf(text)
		change := plannedChange{path: text, top: fmt.Sprint(elements[0]), kind: kind, replaces: replaces}
		before := &oldOutputs
		if diff.InputDiff {
			before = &oldInputs
		}
		if kind != plan.KindAdd {
			change.old = r.at(before, elements)
		}
		if kind != plan.KindDelete {
			change.new = r.at(&inputs, elements)
			if change.new.shown == nil && r.done {
				change.new = r.at(&outputs, elements)
			}
			if change.new.shown == nil {
				change.new = r.value(plugin.UnknownStringValue, true) // the provider sets it
			}
		}
		all = append(all, r.hide(now, elements, change))
	}
	return all
}

// named are the properties that a provider names without details: those of a resource.
func (r valueReader) named(event *stepEvent) []plannedChange {
	meta := event.Metadata
	old, now := stateOf(meta.Old), stateOf(meta.New)
	var all []plannedChange
	for _, name := range slices.Compact(slices.Sorted(slices.Values(meta.Diffs))) {
		before, after := r.value(decoded(old.Inputs[name])), r.value(decoded(now.Inputs[name]))
		if before.sum == after.sum {
			before = r.value(decoded(old.Outputs[name]))
		}
		all = append(all, r.hide(now, []any{name}, plannedChange{
			path: name, top: name, kind: kindOf(before, after), replaces: slices.Contains(meta.Keys, name), old: before, new: after,
		}))
	}
	return all
}

// unnamed are the other inputs that change, or may do so: secrets cannot be compared. The engine passes
// all inputs to a provider that only says that something changes, as dynamic ones do.
func (r valueReader) unnamed(event *stepEvent, named []plannedChange) []plannedChange {
	old, now := stateOf(event.Metadata.Old), stateOf(event.Metadata.New)
	var all []plannedChange
	for _, name := range unionOf(old.Inputs, now.Inputs) {
		if slices.ContainsFunc(named, func(one plannedChange) bool { return one.top == name }) {
			continue
		}
		before, after := r.value(decoded(old.Inputs[name])), r.value(decoded(now.Inputs[name]))
		change := plannedChange{path: name, top: name, kind: kindOf(before, after), old: before, new: after, unnamed: true}
		if !change.isSame() || after.secret {
			all = append(all, r.hide(now, []any{name}, change))
		}
	}
	return all
}

// unionOf are the names of the properties of either, in order.
func unionOf(old, now map[string]json.RawMessage) []string {
	names := slices.AppendSeq(slices.Collect(maps.Keys(old)), maps.Keys(now))
	slices.Sort(names)
	return slices.Compact(names)
}

// isSame reports whether the values are the same, as far as the events say.
func (c plannedChange) isSame() bool { return c.old.sum == c.new.sum }

// outputs are the outputs that change, or may do so: secrets cannot be compared.
func (r valueReader) outputs(event *stepEvent) []plannedChange {
	old, now := stateOf(event.Metadata.Old), stateOf(event.Metadata.New)
	var all []plannedChange
	for _, name := range unionOf(old.Outputs, now.Outputs) {
		before, after := r.value(decoded(old.Outputs[name])), r.value(decoded(now.Outputs[name]))
		change := plannedChange{path: name, top: name, kind: kindOf(before, after), old: before, new: after}
		if !change.isSame() || after.secret {
			all = append(all, change)
		}
	}
	return all
}

func kindOf(old, now plannedValue) string {
	switch {
	case old.shown == nil:
		return plan.KindAdd
	case now.shown == nil:
		return plan.KindDelete
	}
	return plan.KindUpdate
}

// hide takes the values out of a change that the program does not want to be shown
// (hideDiffs).
func (r valueReader) hide(state *stepState, path []any, change plannedChange) plannedChange {
	for _, hidden := range state.HideDiffs {
		if len(hidden) <= len(path) && fmt.Sprint(hidden...) == fmt.Sprint(path[:len(hidden)]...) {
			change.old.hide()
			change.new.hide()
		}
	}
	return change
}

func stateOf(state *stepState) *stepState {
	if state == nil {
		return &stepState{}
	}
	return state
}

// quotedName matches a name in brackets at the beginning of the rest of a path.
var quotedName = regexp.MustCompile(`^\["(?:\\"|[^"])*"\]`)

// withEmptyNames writes the names in a path that are empty, such as the key "" of a map, so that they
// are read again: Pulumi writes nothing for them, after a dot.
func withEmptyNames(path string) string {
	var written strings.Builder
	for rest := path; rest != ""; {
		next := cmp.Or(quotedName.FindString(rest), rest[:1])
		rest = rest[len(next):]
		if next == "." && written.Len() > 0 && (rest == "" || rest[0] == '.') {
			next = `[""]`
		}
		written.WriteString(next)
	}
	return written.String()
}

// elementsOf are the elements of a path, at least one. Providers write what is no path.
func elementsOf(path string) resource.PropertyPath {
	if elements, err := resource.ParsePropertyPath(path); err == nil && len(elements) > 0 {
		return elements
	}
	return resource.PropertyPath{path}
}

// properties are those of a resource, decoded once they are needed.
type properties struct {
	raw  map[string]json.RawMessage
	read map[string]any
}

func (p *properties) top(name string) (any, bool) {
	raw, ok := p.raw[name]
	if !ok {
		return nil, false
	}
	if value, ok := p.read[name]; ok {
		return value, true
	}
	value, ok := decoded(raw)
	if p.read == nil {
		p.read = make(map[string]any)
	}
	p.read[name] = value
	return value, ok
}

// at is the value at a path. What a secret hides is a secret, and what an unknown value or
// one that was too big hides is like that.
func (r valueReader) at(of *properties, path []any) plannedValue { return r.value(of.at(path)) }

// at is the decoded value at a path, and whether there is one.
func (p *properties) at(path []any) (any, bool) {
	value, ok := p.top(fmt.Sprint(path[0]))
	for _, element := range path[1:] {
		if !ok || isOpaque(value) {
			break
		}
		value, ok = member(value, element)
	}
	return value, ok
}

func member(value any, element any) (any, bool) {
	switch value := value.(type) {
	case []any:
		if n, isIndex := element.(int); isIndex && n >= 0 && n < len(value) {
			return value[n], true
		}
	case map[string]any:
		inner, ok := value[fmt.Sprint(element)]
		return inner, ok
	}
	return nil, false
}

// decoded is a JSON value with numbers as they were written, and whether there is one.
func decoded(raw json.RawMessage) (any, bool) {
	if raw == nil {
		return nil, false
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return "[not readable]", true
	}
	return value, true
}
