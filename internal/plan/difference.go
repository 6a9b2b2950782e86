// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/flux-pulumi/pulumi-controller/internal/plural"
)

// maxDifferences bounds the differences that a sentence names.
const maxDifferences = 3

// Difference says in one sentence, without a full stop, how a plan differs from an earlier
// one, "" if it does not.
func Difference(old, now Plan) string {
	if old.Digest() == now.Digest() {
		return ""
	}
	all := slices.Concat(differentSteps(old, now), differentOutputs(old, now), differentOrigin(old, now))
	if len(all) == 0 {
		all = []string{"a change that is not shown differs"}
	}
	if more := len(all) - maxDifferences; more > 0 {
		all = append(all[:maxDifferences], plural.Of(more, "more difference", "more differences"))
	}
	return strings.Join(all, "; ")
}

// differentSteps compares the steps by resource.
func differentSteps(old, now Plan) []string {
	before, after := byKey(old.Steps, func(s Step) string { return s.URN }), byKey(now.Steps, func(s Step) string { return s.URN })
	var all []string
	for _, urn := range unionOf(before, after) {
		was, had := before[urn]
		is, has := after[urn]
		name := func(s Step) string { return visible(s.Type + " " + ResourceName(s.URN)) }
		switch {
		case !had:
			all = append(all, fmt.Sprintf("%s is new in it (%s)", name(is), is.Op))
		case !has:
			all = append(all, fmt.Sprintf("%s is not in it any more (%s)", name(was), was.Op))
		case was.Op != is.Op:
			all = append(all, fmt.Sprintf("%s: %s instead of %s", name(is), is.Op, was.Op))
		case was.digest() != is.digest():
			all = append(all, name(is)+differentProperty(was, is))
		}
	}
	if old.MoreDigest != now.MoreDigest {
		all = append(all, "resources that are not listed differ")
	}
	return all
}

// differentProperty names the first property that differs.
func differentProperty(was, is Step) string {
	key := func(p Property) string { return p.Path }
	before, after := byKey(was.Properties, key), byKey(is.Properties, key)
	for _, path := range unionOf(before, after) {
		if before[path].digest() != after[path].digest() {
			return fmt.Sprintf(": %s differs", visible(path))
		}
	}
	if digestOfProperties(was.Options, "") != digestOfProperties(is.Options, "") {
		return ": its options differ"
	}
	return " differs"
}

func differentOutputs(old, now Plan) []string {
	key := func(o Output) string { return o.Name }
	before, after := byKey(old.Outputs, key), byKey(now.Outputs, key)
	var all []string
	for _, name := range unionOf(before, after) {
		if before[name].digest() != after[name].digest() {
			all = append(all, fmt.Sprintf("output %s differs", visible(name)))
		}
	}
	if old.MoreOutputsDigest != now.MoreOutputsDigest {
		all = append(all, "outputs that are not listed differ")
	}
	return all
}

// differentOrigin compares what the plans were made from.
func differentOrigin(old, now Plan) []string {
	var all []string
	if old.Destroy != now.Destroy {
		all = append(all, "one of them destroys the stack")
	}
	if old.Inputs != now.Inputs {
		all = append(all, "the program, config, environment or options have changed")
	}
	if old.State != now.State {
		all = append(all, "the state of the stack has changed")
	}
	for _, name := range unionOf(old.Versions, now.Versions) {
		if was, is := old.Versions[name], now.Versions[name]; was != is {
			all = append(all, visible(fmt.Sprintf("the version of %s is %s instead of %s", name, orNone(is), orNone(was))))
		}
	}
	if !slices.Equal(old.digestsOfPolicies(), now.digestsOfPolicies()) {
		all = append(all, "the verdicts of policies differ")
	}
	return all
}

func orNone(version string) string {
	if version == "" {
		return "none"
	}
	return version
}

func byKey[T any](list []T, key func(T) string) map[string]T {
	all := make(map[string]T, len(list))
	for _, one := range list {
		all[key(one)] = one
	}
	return all
}

// unionOf are the sorted keys of two maps.
func unionOf[T any](a, b map[string]T) []string {
	keys := slices.AppendSeq(slices.Collect(maps.Keys(a)), maps.Keys(b))
	slices.Sort(keys)
	return slices.Compact(keys)
}
