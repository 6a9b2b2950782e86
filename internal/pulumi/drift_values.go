// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"

	"github.com/flux-pulumi/pulumi-controller/internal/plan"
)

// difference is a property in which a resource differs from the state.
type difference struct {
	path resource.PropertyPath
	// text is the path as the provider writes it.
	text, kind string
	replaces   bool
	// state is what the stack asks for, and real what the provider has found.
	state, real anyValue
}

// anyValue is a decoded value, the zero value for none.
type anyValue struct {
	value any
	ok    bool
}

// differencesOf are the properties in which a resource differs from the state. The provider
// compares what it has found with the inputs in the state. The engine inverts what it reports:
// what was added outside of Pulumi is an addition.
func differencesOf(event *stepEvent) []difference {
	meta, of := event.Metadata, sidesOf(event)
	var all []difference
	for _, path := range slices.Sorted(maps.Keys(meta.DetailedDiff)) {
		kind, replaces := strings.CutSuffix(string(meta.DetailedDiff[path].Kind), "-replace")
		text := withEmptyNames(path)
		one := difference{path: elementsOf(text), text: text, kind: kind, replaces: replaces}
		if kind != plan.KindAdd {
			one.state = firstAt(one.path, &of.inputs, &of.outputs)
		}
		switch {
		case kind == plan.KindDelete:
		case meta.DetailedDiff[path].InputDiff:
			one.real = firstAt(one.path, &of.realInputs, &of.realOutputs)
		default:
			one.real = firstAt(one.path, &of.realOutputs, &of.realInputs)
		}
		all = append(all, one)
	}
	if len(all) > 0 {
		return all
	}
	for _, name := range of.differing(meta.Diffs) {
		path := resource.PropertyPath{name}
		state, real := firstAt(path, &of.inputs), firstAt(path, &of.realInputs)
		before, after := firstAt(path, &of.outputs), firstAt(path, &of.realOutputs)
		if reflect.DeepEqual(state, real) && (!state.ok || before.ok && after.ok) { // or both are secret
			state, real = before, after
		}
		all = append(all, newDifference(path, state, real, slices.Contains(meta.Keys, name)))
	}
	return all
}

// firstAt is the value at the path in the first that has one.
func firstAt(path resource.PropertyPath, all ...*properties) anyValue {
	for _, of := range all {
		if value, ok := of.at(path); ok {
			return anyValue{value, true}
		}
	}
	return anyValue{}
}

func newDifference(path resource.PropertyPath, state, real anyValue, replaces bool) difference {
	one := difference{path: path, text: withEmptyNames(path.String()), kind: plan.KindUpdate, replaces: replaces, state: state, real: real}
	switch {
	case !state.ok:
		one.kind = plan.KindAdd
	case !real.ok:
		one.kind = plan.KindDelete
	}
	return one
}

// planned is the difference to be shown.
func (d difference) planned(r valueReader, now *stepState) plannedChange {
	return r.hide(now, d.path, plannedChange{
		path: d.text, top: fmt.Sprint(d.path[0]), kind: d.kind, replaces: d.replaces,
		old: r.value(d.state.value, d.state.ok), new: r.value(d.real.value, d.real.ok),
	})
}

// maxParts bounds the parts that a property is taken apart into.
const maxParts = 1000

// parts are the members that differ of a map or a list, at any depth. Providers report it as a
// whole if it was added or removed, and some always do. There are none if it is no map or list,
// if no member differs as far as the events say, or if too many do.
func (d difference) parts() []difference {
	all := partsOf(nil, d.path, d.state, d.real, d.replaces)
	if len(all) > maxParts || len(all) == 1 && len(all[0].path) == len(d.path) {
		return nil
	}
	return all
}

func partsOf(all []difference, path resource.PropertyPath, state, real anyValue, replaces bool) []difference {
	if len(all) > maxParts || reflect.DeepEqual(state, real) {
		return all
	}
	elements := elementsIn(state, real)
	if len(elements) == 0 {
		return append(all, newDifference(path, state, real, replaces))
	}
	for _, element := range elements {
		all = partsOf(all, append(slices.Clone(path), element), state.member(element), real.member(element), replaces)
	}
	return all
}

// elementsIn are the names or indexes of the members of two maps or two lists, of which one may
// be missing. There are none for anything else.
func elementsIn(a, b anyValue) []any {
	var elements []any
	aMap, bMap := a.members(), b.members()
	switch {
	case aMap != nil && (bMap != nil || !b.ok), bMap != nil && !a.ok:
		names := slices.AppendSeq(slices.Collect(maps.Keys(aMap)), maps.Keys(bMap))
		slices.Sort(names)
		for _, name := range slices.Compact(names) {
			elements = append(elements, name)
		}
		return elements
	}
	aList, aIs := a.value.([]any)
	bList, bIs := b.value.([]any)
	if (aIs || !a.ok) && (bIs || !b.ok) {
		for n := range max(len(aList), len(bList)) {
			elements = append(elements, n)
		}
	}
	return elements
}

// members are those of a map, nil if it is none, or if they are not known.
func (v anyValue) members() map[string]any {
	if members, ok := v.value.(map[string]any); ok && !isOpaque(v.value) {
		return members
	}
	return nil
}

func (v anyValue) member(element any) anyValue {
	value, ok := member(v.value, element)
	return anyValue{value, ok}
}
