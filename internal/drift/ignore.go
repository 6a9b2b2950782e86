// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package drift

import (
	"fmt"
	"strings"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

// Ignore is the drift that does not count.
type Ignore struct{ rules []ignored }

type ignored struct {
	kind, urn string
	paths     [][]any
}

// NewIgnore returns the rules of spec.drift.ignore. The error is a FieldError.
func NewIgnore(rules []v1.IgnoredDrift) (Ignore, error) {
	var all Ignore
	for n, rule := range rules {
		one := ignored{kind: rule.Type, urn: rule.URN}
		for at, text := range rule.Paths {
			path, err := ParsePath(text)
			if err != nil {
				return Ignore{}, &FieldError{
					fmt.Sprintf("spec.drift.ignore[%d].paths[%d]", n, at), fmt.Sprintf("%q is not the path of a property: %s", text, err),
				}
			}
			one.paths = append(one.paths, path)
		}
		if one.kind == "" && one.urn == "" {
			return Ignore{}, &FieldError{fmt.Sprintf("spec.drift.ignore[%d]", n), "needs a type or a urn"}
		}
		all.rules = append(all.rules, one)
	}
	return all, nil
}

// Paths are the properties of a resource that do not count.
type Paths struct {
	// All reports whether the whole resource does not count.
	All   bool
	paths [][]any
}

// Of returns what does not count of the resource.
func (i Ignore) Of(kind, urn string) Paths {
	var found Paths
	for _, rule := range i.rules {
		if !matches(rule.kind, kind) || !matches(rule.urn, urn) {
			continue
		}
		found.All = found.All || len(rule.paths) == 0
		found.paths = append(found.paths, rule.paths...)
	}
	return found
}

// Covers reports whether the property at that path does not count, with all that is below it.
func (p Paths) Covers(path []any) bool {
	for _, one := range p.paths {
		if contains(one, path) {
			return true
		}
	}
	return p.All
}

// Within reports whether something below that path may not count, although the property itself
// does.
func (p Paths) Within(path []any) bool {
	for _, one := range p.paths {
		if len(one) > len(path) && contains(one[:len(path)], path) {
			return true
		}
	}
	return false
}

// matches compares the text with a pattern, in which a * stands for any text. No pattern
// matches all.
func matches(pattern, text string) bool {
	if pattern == "" {
		return true
	}
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == text
	}
	first, last := parts[0], parts[len(parts)-1]
	rest, ok := strings.CutPrefix(text, first)
	if !ok {
		return false
	}
	if rest, ok = strings.CutSuffix(rest, last); !ok {
		return false
	}
	for _, part := range parts[1 : len(parts)-1] {
		_, after, found := strings.Cut(rest, part)
		if !found {
			return false
		}
		rest = after
	}
	return true
}
