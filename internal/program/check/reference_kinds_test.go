// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"testing"

	. "github.com/onsi/gomega"
)

// Each of these was also run with Pulumi itself, which agrees.

func withReferences(options string) string {
	return withOptions(options) + `
variables: {list: ["${b}"], vp: "${p}", vb: "${b}", vv: "${vb}", out: "${b.id}", call: {"fn::select": [0, ["${b}"]]}, object: {b: "${b}"}}`
}

func TestReferencesThatAreNoResourcesAreFaults(t *testing.T) {
	for options, want := range map[string]string{
		`dependsOn: "${b}"`:                           `program.resources.r.options.dependsOn: must be a list of references, such as ["${b}"], and is a reference to one resource`,
		`replaceWith: "${b}"`:                         `must be a list of references, such as ["${b}"]`,
		`providers: "${p}"`:                           `must be a list of references, such as ["${p}"]`,
		`dependsOn: "${b.deps}"`:                      "is an output of a resource",
		`dependsOn: "${pulumi.stack}"`:                "must be a list, or an expression that is one, and is a string",
		`dependsOn: ["${b.id}"]`:                      "program.resources.r.options.dependsOn[0]: must be a reference to a resource, such as ${bucket}, and is an output of the resource b",
		`dependsOn: ["${flag}"]`:                      "and is a value: flag is no resource",
		`dependsOn: ["${pulumi.stack}"]`:              "and is a value: pulumi is no resource",
		`dependsOn: ["${nope}"]`:                      "and is to nope, which is none of the program",
		`dependsOn: ["${list}"]`:                      "must be a reference to a resource, such as ${bucket}, and is a list",
		`dependsOn: ["${out}"]`:                       "and is an output of the resource b",
		`parent: "${word}"`:                           "and is a value: word is no resource",
		`parent: "${b.id}"`:                           "and is an output of the resource b",
		`deletedWith: "${b.id}"`:                      "and is an output of the resource b",
		`provider: "${p.id}"`:                         "and is an output of the resource p",
		`provider: "${b}"`:                            "program.resources.r.options.provider: must be a reference to a provider, which has a type such as pulumi:providers:aws, and is b, a a:B",
		`provider: "${vv}"`:                           "and is b, a a:B",
		`providers: ["${b}"]`:                         "program.resources.r.options.providers[0]: must be a reference to a provider",
		`protect: "${b.id}"`:                          "program.resources.r.options.protect: is an output of a resource or a function, or a secret",
		`protect: {"fn::secret": true}`:               "is an output of a resource or a function, or a secret",
		`protect: "${b}"`:                             "must be a boolean, or an expression that is one, and is a resource",
		`customTimeouts: {create: "${b.id}"}`:         "is an output of a resource",
		`customTimeouts: {create: "${b.id}m"}`:        "is an output of a resource",
		`aliases: [x]`:                                "program.resources.r.options.aliases[0]: is no URN, such as urn:pulumi:",
		`aliases: [{urn: x}]`:                         "program.resources.r.options.aliases[0].urn: is no URN",
		`aliases: [{parent: x}]`:                      "program.resources.r.options.aliases[0].parent: is no URN",
		`aliases: [{parent: ""}]`:                     "program.resources.r.options.aliases[0].parent: is empty",
		`aliases: [{parent: "${b.name}"}]`:            "program.resources.r.options.aliases[0].parent: must be a resource or the URN of one, and is a property of the resource b",
		`aliases: [{parent: "${b}", noParent: true}]`: "program.resources.r.options.aliases[0].parent: and noParent cannot both be given",
		`aliases: [{name: "${b}"}]`:                   "must be a string, or an expression that is one, and is a resource",
	} {
		NewWithT(t).Expect(withoutLines(checked(t, withReferences(options)).Invalid)).To(ConsistOf(ContainSubstring(want)), options)
	}
	call := func(options string) string {
		return "resources: {b: {type: a:B}}\noutputs: {o: {'fn::invoke': {function: 'a:b:c', options: {" + options + "}}}}"
	}
	for text, want := range map[string]string{
		call(`dependsOn: "${b}"`): "program.outputs.o.fn::invoke.options.dependsOn: must be a list of references",
		call(`provider: "${b}"`):  "program.outputs.o.fn::invoke.options.provider: must be a reference to a provider",
		call(`parent: "${b.id}"`): "program.outputs.o.fn::invoke.options.parent: must be a reference to a resource",
	} {
		NewWithT(t).Expect(withoutLines(checked(t, text).Invalid)).To(ConsistOf(ContainSubstring(want)), text)
	}
}

func TestReferencesThatMayBeResourcesAreNoFaults(t *testing.T) {
	for _, options := range []string{
		`dependsOn: "${list}"`, `dependsOn: ["${vb}", "${vv}", "${call}", "${object.b}", "${p}"]`, `parent: "${p}"`, `parent: "${vv}"`, `provider: "${vp}"`,
		`provider: "${call}"`, `providers: "${list}"`, `aliases: ["${b}"]`, `aliases: "${list}"`, `aliases: [{name: "${b.name}"}]`,
		`aliases: [{parent: "${p}"}]`, `aliases: [{parent: "${b.urn}"}]`, `aliases: [{parent: "${b}", noParent: false}]`,
	} {
		NewWithT(t).Expect(lines(checked(t, withReferences(options)).Invalid)).NotTo(ContainElement(ContainSubstring("resources.r.")), options)
	}
}
