// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"maps"
	"slices"
	"strings"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/program"
)

const clearProblem = "is not a key of a value for a provider, which stands in the clear: give a secret one in secretsRef of the Stack"

// checkConfigOfProviders finds keys that do not reach a provider in declarations such as
// aws:region. Pulumi refuses them in a Pulumi.yaml, but in a Main.yaml it treats such a
// declaration as one of the project.
//
// It is one of the project if the namespace is the name of the project, which only a Stack
// knows. So the Program has these faults only if the namespace is a package that it uses.
// The others are returned by namespace, for the Stack.
func checkConfigOfProviders(object map[string]any, top *position, invalid *findings) map[string]program.Faults {
	packages := usedPackages(top)
	others := map[string]*findings{}
	for _, section := range []string{"config", "configuration"} {
		declarations, _ := object[section].(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(declarations)) {
			namespace, _, _ := strings.Cut(name, ":")
			for _, problem := range typedConfigProblems(name, declarations[name]) {
				faults := others[namespace]
				switch {
				case packages[namespace]:
					faults = invalid
				case faults == nil && len(others) == maxFaults:
					continue // at most one of them is the project
				case faults == nil:
					faults = newFindings(invalid.paths)
					others[namespace] = faults
				}
				faults.add(positionOf(section, name, problem.key), "%s", problem.text)
			}
		}
	}
	found := make(map[string]program.Faults, len(others))
	for namespace, faults := range others {
		found[namespace] = faults.sorted()
	}
	return found
}

// configProblem is what is wrong with a key of a declaration.
type configProblem struct{ key, text string }

// typedConfigProblems returns the keys that do not reach a provider. checkConfigs checks
// declarations that consist of a value alone.
func typedConfigProblems(name string, declaration any) []configProblem {
	fields, _ := declaration.(map[string]any)
	_, defaulted := fields["default"]
	_, valued := fields["value"]
	key, renamed := fields["name"]
	if key == name && strings.Contains(name, ":") && (defaulted || valued) {
		return []configProblem{{"name", "keeps the value from the provider, as it makes it one of the program's own: remove it"}}
	}
	if renamed || !strings.Contains(name, ":") || v1.IsOfProvider(name, fields) {
		return nil
	}
	var found []configProblem
	if defaulted {
		found = append(found, configProblem{"default", "does not reach the provider: use value instead of default"})
	}
	value := fields["value"]
	if secret, _ := fields["secret"].(bool); valued && secret {
		found = append(found, configProblem{"secret", clearProblem})
	}
	if isExpression(value) {
		found = append(found, configProblem{"value", "is an expression, and Pulumi evaluates none for a provider: write the value out"})
	}
	return found
}

// usedPackages returns the names of the packages of all resources and functions.
func usedPackages(top *position) map[string]bool {
	used := map[string]bool{reserved: true}
	note := func(token string) {
		name, _, _ := strings.Cut(strings.TrimPrefix(token, providerType), ":")
		used[name] = true
	}
	top.get("packages").entries(func(at *position) { note(at.key) })
	top.get("resources").entries(func(at *position) {
		note(typeOf(at))
	})
	var visit func(at *position)
	visit = func(at *position) {
		switch name := strings.ToLower(at.key); {
		case name == "fn::invoke":
			token, _ := at.get("function").text()
			note(token)
		case shortCall.MatchString(name):
			note(strings.TrimPrefix(name, "fn::"))
		}
		at.each(visit)
	}
	visit(top)
	return used
}

// isExpression reports whether Pulumi YAML would evaluate a value, or a part of it.
func isExpression(value any) bool {
	switch value := value.(type) {
	case string:
		return strings.Contains(value, "${")
	case []any:
		return slices.ContainsFunc(value, isExpression)
	case map[string]any:
		for key, member := range value {
			if isCall := len(value) == 1 && strings.HasPrefix(strings.ToLower(key), "fn::"); isCall || isExpression(key) || isExpression(member) {
				return true
			}
		}
	}
	return false
}
