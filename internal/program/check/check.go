// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"fmt"
	"maps"
	"slices"

	"gopkg.in/yaml.v3"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/program"
)

// Bounds of a program.
const (
	maxDepth = 100
	maxKey   = 1024
	// maxNestedCalls bounds calls in the options of calls: the parser reads these options
	// twice, and so the innermost 2^n times.
	maxNestedCalls = 3
)

// Check checks the program of a Program, in JSON. Any JSON is accepted: what is wrong
// becomes a fault.
func Check(raw []byte) program.Checked {
	checked, object, err := program.Read(raw)
	if err != nil {
		return unreadable(err)
	}
	text := checked.Text
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil || len(document.Content) != 1 {
		return unreadable(fmt.Errorf("it cannot be read as YAML again: %w", err))
	}
	paths := &paths{renamed: renamedPaths(object)}
	top := &position{node: document.Content[0], line: 1}
	invalid, violations := newFindings(paths), newFindings(paths)
	checkConfigs(object, invalid)
	checkSigKeyOfProviders(object, violations)
	if !isBounded(top, invalid) {
		checked.Invalid = invalid.sorted()
		return checked
	}
	checked.OfProviders = checkConfigOfProviders(object, top, invalid)
	checkKeys(top, invalid)
	checkSigKey(top, violations)
	checkTypes(top, violations)
	checkCalls(top, &calls{invalid: invalid, violations: violations})
	checked.Packages = packages(top.get("packages"), invalid, violations)
	if invalid.isFull() {
		// The parser would search for what each unknown key may have meant.
		checked.Invalid, checked.SandboxViolations = invalid.sorted(), violations.sorted()
		return checked
	}
	if parse(top, invalid) {
		checkOrder(top, invalid)
		checked.Undeclared = undeclared(top)
		top.get("resources").entries(func(*position) { checked.Resources++ })
	}
	checked.Invalid, checked.SandboxViolations = invalid.sorted(), violations.sorted()
	return checked
}

// unreadable returns the result for a Program that cannot be turned into YAML.
func unreadable(err error) program.Checked {
	invalid := newFindings(&paths{})
	invalid.add(nil, "%v", err)
	return program.Checked{Invalid: invalid.all}
}

// isBounded reports whether the program is within the bounds that the other checks rely on.
func isBounded(top *position, invalid *findings) bool {
	type level struct {
		at           *position
		depth, calls int
	}
	todo := []level{{at: top}}
	for len(todo) > 0 {
		next := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		switch {
		case next.depth > maxDepth:
			invalid.add(next.at, "is nested deeper than %d levels", maxDepth)
			return false
		case len(next.at.key) > maxKey:
			invalid.add(next.at, "has a key of %d bytes, and may have one of %d", len(next.at.key), maxKey)
			return false
		case next.calls > maxNestedCalls:
			invalid.add(next.at, "is a call in the options of a call, more than %d times over", maxNestedCalls)
			return false
		}
		next.at.each(func(inner *position) {
			calls := next.calls
			if isCallOptions(inner) {
				calls++
			}
			todo = append(todo, level{inner, next.depth + 1, calls})
		})
	}
	return true
}

// checkConfigs finds faults in the config that the text cannot show: it merges both
// sections and leaves out values for providers.
func checkConfigs(object map[string]any, invalid *findings) {
	config, _ := object["config"].(map[string]any)
	configuration, _ := object["configuration"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(configuration)) {
		if _, twice := config[name]; twice {
			invalid.add(positionOf("configuration", name), "is declared in config, too: declare it once")
		}
	}
	for _, section := range []string{"config", "configuration"} {
		declarations, _ := object[section].(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(declarations)) {
			if !v1.IsOfProvider(name, declarations[name]) {
				continue
			}
			fields, _ := declarations[name].(map[string]any)
			for _, key := range slices.Sorted(maps.Keys(fields)) {
				switch key {
				case "description":
				case "value":
					if fields[key] == nil {
						invalid.add(positionOf(section, name, key), "is null, which no config value can be")
					}
				case "secret":
					invalid.add(positionOf(section, name, key), clearProblem)
				default:
					invalid.add(positionOf(section, name, key), "is not a key of a value for a provider, which has nothing else")
				}
			}
		}
	}
}
