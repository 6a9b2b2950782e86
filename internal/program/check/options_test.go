// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"testing"

	. "github.com/onsi/gomega"
)

// Each of these was also run with Pulumi itself, which agrees.

// withOptions returns a program with a resource that has the options.
func withOptions(options string) string {
	return `
config: {flag: {type: Boolean}, mapping: {type: Object}, word: {type: String}, old: {type: Object}, many: {type: Object}}
resources: {p: {type: "pulumi:providers:a"}, b: {type: a:B}, r: {type: a:B, options: {` + options + `}}}`
}

func withResource(fields string) string {
	return "config: {o: {type: Object}}\nresources: {r: {type: a:B, " + fields + "}}"
}

func TestLiteralsThatFailInTheRunAreFaults(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{withOptions(`protect: "x"`), "program.resources.r.options.protect (line 19): must be a boolean, or an expression that is one, and is a string"},
		{withOptions(`protect: "true"`), "options.protect (line 19): must be a boolean"},
		{withOptions(`protect: "x ${flag}"`), "must be a boolean, or an expression that is one, and is a string"},
		{withOptions(`protect: 3`), "and is a number"},
		{withOptions(`protect: null`), "and is null"},
		{withOptions(`protect: [true]`), "and is a list"},
		{withOptions(`aliases: [{name: 3}]`), "options.aliases[0].name (line 20): must be a string"},
		{withOptions(`aliases: [{name: null}]`), "and is null"},
		{withOptions(`aliases: [{type: true}]`), "and is a boolean"},
		{withOptions(`aliases: [{parent: 3}]`), "options.aliases[0].parent (line 20): must be a string"},
		{withOptions(`aliases: [{parent: null}]`), "and is null"},
		{withOptions(`dependsOn: 3`), "options.dependsOn (line 19): must be a list, or an expression that is one, and is a number"},
		{withOptions(`dependsOn: b`), "and is a string"},
		{withOptions(`dependsOn: null`), "and is null"},
		{withOptions(`dependsOn: ["b"]`), "options.dependsOn[0] (line 20): must be a reference to a resource, such as ${bucket}, and is a string"},
		{withOptions(`dependsOn: ["x ${b}"]`), "must be a reference to a resource"},
		{withOptions(`dependsOn: [["${b}"]]`), "must be a reference to a resource, such as ${bucket}, and is a list"},
		{withOptions(`dependsOn: [null]`), "and is null"},
		{withOptions(`providers: 3`), "options.providers (line 19): must be a list"},
		{withOptions(`providers: {a: "${p}"}`), "and is an object"},
		{withOptions(`providers: [p]`), "options.providers[0] (line 20): must be a reference"},
		{withOptions(`replaceWith: 3`), "options.replaceWith (line 19): must be a list"},
		{withOptions(`replaceWith: ["b"]`), "options.replaceWith[0] (line 20): must be a reference"},
		{withOptions(`provider: x`), "options.provider (line 19): must be a reference to a resource, such as ${bucket}, and is a string"},
		{withOptions(`provider: 3`), "and is a number"},
		{withOptions(`provider: ["${p}"]`), "and is a list"},
		{withOptions(`parent: x`), "options.parent (line 19): must be a reference"},
		{withOptions(`parent: ""`), "and is a string"},
		{withOptions(`deletedWith: y`), "options.deletedWith (line 19): must be a reference"},
		{withOptions(`deletedWith: 5`), "and is a number"},
		{withOptions(`customTimeouts: {create: 5}`), "options.customTimeouts.create (line 20): must be a string, or an expression that is one, and is a number"},
		{withOptions(`customTimeouts: {create: "5 parsecs"}`), "options.customTimeouts.create (line 20): is no duration, such as 30s, 5m or 1h30m"},
		{withOptions(`customTimeouts: {delete: "5"}`), "is no duration"},
		{withOptions(`customTimeouts: {read: 1d}`), "is no duration"},
		{withOptions(`customTimeouts: {update: null}`), "and is null"},
		{withOptions(`envVarMappings: 3`), "options.envVarMappings (line 19): must be an object, or an expression that is one, and is a number"},
		{withOptions(`envVarMappings: null`), "and is null"},
		{withOptions(`envVarMappings: {A: B}`), "program.resources.r.options.envVarMappings (line 19): is for providers only, which have a type such as pulumi:providers:aws"},
		{withOptions(`envVarMappings: {A: 3}`), "options.envVarMappings.A (line 20): must be a string"},
		{withOptions(`pluginDownloadURL: "${word}"`), "options.pluginDownloadURL (line 19): pluginDownloadURL must be a string, and cannot be an expression"},
		{withOptions(`retainOnDelete: "${flag}"`), "retainOnDelete must be a boolean value, and cannot be an expression"},
		{withResource(`properties: null`), "must be an object, or an expression that is one, and is null"},
		{`resources: {r: {type: "pulumi:providers:a", get: {id: x}}}`, "program.resources.r.get.id (line 4): cannot be given for a provider: Pulumi reads none"},
		{withResource(`get: {id: 3}`), "program.resources.r.get.id (line 7): must be a string"},
		{withResource(`get: {id: ""}`), "program.resources.r.get.id (line 7): is empty, and Pulumi would fail in the run: give the ID of the resource to read, or remove get"},
		{withResource(`get: {id: "", state: {name: a}}`), "get.id (line 7): is empty"},
	} {
		t.Run(test.text, func(t *testing.T) {
			NewWithT(t).Expect(lines(checked(t, test.text).Invalid)).To(ContainElement(ContainSubstring(test.want)))
		})
	}
}

// Pulumi ignores an empty import, and creates a second copy of what was to be imported.
func TestAnEmptyImportIsAFault(t *testing.T) {
	NewWithT(t).Expect(lines(checked(t, withOptions(`import: ""`)).Invalid)).To(ConsistOf(ContainSubstring("program.resources.r.options.import (line 19): " +
		"is empty, and Pulumi would create the resource: give the ID of the one to import, or remove import")))
}

func TestWhatPulumiAcceptsIsNoFault(t *testing.T) {
	texts := []string{
		withResource(`properties: "${o}"`), withResource(`properties: {}`), withResource(`get: {id: x}, properties: {}`),
		withResource(`get: {}, properties: {name: a}`), withResource(`get: {state: {}}, properties: {name: a}`), withResource(`get: {id: "${o.id}"}`),
		`resources: {p: {type: "pulumi:providers:a", options: {envVarMappings: {A: "x ${word}", B: C}}}}`,
		withResource(`get: {id: {"fn::join": ["", [""]]}}`), withResource(`options: {import: x}`), withResource(`get: {id: " "}`),
	}
	for _, options := range []string{
		`protect: false`, `protect: "${flag}"`, `protect: {"fn::select": [0, [true]]}`,
		`aliases: null`, `aliases: []`, `aliases: "${old}"`, `aliases: ["${old}"]`, `aliases: {"fn::select": [0, [[x]]]}`, `aliases: [{}]`,
		`aliases: ["urn:pulumi:dev::lab::lab:index:Thing::old"]`, `aliases: [{name: x, type: t, stack: s, project: q, noParent: true}]`,
		`aliases: [{parent: "${b}"}]`, `aliases: [{parent: "urn:pulumi:dev::lab::lab:index:Thing::old"}]`, `aliases: [{name: "x-${word}", noParent: null}]`,
		`aliases: [{urn: "urn:pulumi:dev::lab::lab:index:Thing::old"}]`, `aliases: [3]`, `aliases: [null]`, `aliases: [true]`,
		`dependsOn: ["${b}"]`, `dependsOn: "${many}"`, `dependsOn: []`, `dependsOn: [{"fn::select": [0, ["${b}"]]}]`, `dependsOn: {"fn::select": [0, [["${b}"]]]}`,
		`customTimeouts: {}`, `customTimeouts: {create: 5m, delete: 1.5h, update: "0", read: "-5m"}`, `customTimeouts: {create: ""}`, `customTimeouts: {create: "${word}"}`,
		`provider: "${p}"`, `provider: {"fn::select": [0, ["${p}"]]}`, `parent: "${b}"`, `parent: {"fn::select": [0, ["${b}"]]}`, `deletedWith: "${b}"`,
		`providers: []`, `providers: ["${p}"]`, `providers: "${many}"`, `replaceWith: []`, `replaceWith: ["${b}"]`,
		`envVarMappings: {}`, `envVarMappings: "${mapping}"`, `envVarMappings: {"fn::select": [0, [{A: B}]]}`,
	} {
		texts = append(texts, withOptions(options))
	}
	for _, declaration := range []string{
		`type: Integer, default: 1`, `type: Integer, default: 1.0`, `type: Integer, default: 1e300`, `type: List<Number>, default: [1]`, `default: [1, 1.5]`,
		`type: List<String>, default: [a, "${pulumi.stack}"]`, `type: List<String>, default: [{"fn::join": ["", [a]]}]`, `type: List<Boolean>, default: [true]`,
		`type: Number, default: 1.5`, `type: List<Integer>`, `type: List<Object>`,
	} {
		texts = append(texts, "config: {v: {"+declaration+"}}")
	}
	for _, version := range []string{`">=3.0.0"`, `""`, `"3.x"`, `">= 3.0.0 || 1.0.0"`, `"${word}"`, `{"fn::join": ["", [">=", "3.0.0"]]}`} {
		texts = append(texts, "pulumi: {requiredVersion: "+version+"}\nvariables: {word: x}")
	}
	for _, text := range texts {
		t.Run(text, func(t *testing.T) {
			NewWithT(t).Expect(lines(checked(t, text).Invalid)).To(BeEmpty())
		})
	}
}
