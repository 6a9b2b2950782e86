// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package drift

import (
	"regexp"
	"slices"
	"strings"
)

// maxTargets bounds the resources of one correction. What is left follows from the next check.
const maxTargets = 100

// Targets returns the resources that a correction is limited to: those that have drifted and
// that spec.targets, if it has any, does not exclude.
func Targets(drifted, targets []string) []string {
	var all []string
	for _, urn := range drifted {
		if len(targets) == 0 || slices.ContainsFunc(targets, func(target string) bool { return targeted(target, urn) }) {
			all = append(all, urn)
		}
	}
	slices.Sort(all)
	all = slices.Compact(all)
	return all[:min(len(all), maxTargets)]
}

// targeted reports whether Pulumi takes the target for the resource: a * stands for any part of
// a name, and ** for any part of a URN.
func targeted(target, urn string) bool {
	if !strings.Contains(target, "*") {
		return target == urn
	}
	var pattern strings.Builder
	for n, part := range strings.Split(target, "**") {
		if n > 0 {
			pattern.WriteString(".*")
		}
		pattern.WriteString(strings.ReplaceAll(regexp.QuoteMeta(part), `\*`, "[^:]*"))
	}
	expression, err := regexp.Compile("^" + pattern.String() + "$")
	return err == nil && expression.MatchString(urn)
}
