// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"testing"

	. "github.com/onsi/gomega"
)

// Pulumi itself reports that what is evaluated later "could not be found".

func TestOptionsThatReferToWhatIsEvaluatedLaterAreFaults(t *testing.T) {
	const later = "refers to z, which Pulumi YAML evaluates later: name it in dependsOn as well"
	const variable = "refers to the variable v, which Pulumi YAML evaluates later: write its value here, or make it a config value"
	for fields, want := range map[string]string{
		`options: {deletedWith: "${z}"}`:                               "program.resources.m.options.deletedWith: " + later,
		`options: {replaceWith: ["${z}"]}`:                             "program.resources.m.options.replaceWith[0]: " + later,
		`options: {replacementTrigger: "${z.id}"}`:                     "program.resources.m.options.replacementTrigger: " + later,
		`options: {protect: "${v}"}`:                                   "program.resources.m.options.protect: " + variable,
		`options: {customTimeouts: {create: "${v}"}}`:                  "program.resources.m.options.customTimeouts.create: " + variable,
		`get: {id: x, state: {name: "${z.id}"}}`:                       "program.resources.m.get.state.name: " + later,
		`options: {deletedWith: "${a}", replaceWith: ["${a}"]}`:        "",
		`options: {deletedWith: "${z}", dependsOn: ["${z}"]}`:          "",
		`options: {deletedWith: "${z}"}, properties: {p: "${z.id}"}`:   "",
		`options: {deletedWith: "${z}"}, properties: {p: "${byWay}"}`:  "",
		`options: {protect: "${v}"}, properties: {p: "x ${v}"}`:        "",
		`options: {protect: "${c}", customTimeouts: {create: "${d}"}}`: "",
		`options: {replacementTrigger: "${p.id}"}`:                     "",
		`get: {id: "${z.id}", state: {name: "${z.id}"}}`:               "",
	} {
		text := `
config: {c: {type: Boolean}}
resources: {a: {type: a:B}, m: {type: b:B, ` + fields + `}, p: {type: "pulumi:providers:b", defaultProvider: true}, z: {type: a:B}}
variables: {v: x, byWay: "${z.id}"}`
		faults := withoutLines(checked(t, text).Invalid)
		if want == "" {
			NewWithT(t).Expect(faults).To(BeEmpty(), fields)
			continue
		}
		NewWithT(t).Expect(faults).To(ConsistOf(want), fields)
	}
}
