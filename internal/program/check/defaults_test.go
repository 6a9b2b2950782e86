// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"testing"

	. "github.com/onsi/gomega"
)

// Each of these was also run with Pulumi itself, which agrees.

func withDefault(fields string) string {
	return `
config: {b: {default: x}, s: {default: x, secret: true}, t: {` + fields + `}, z: {default: y}}
resources: {r: {type: a:B}}
variables: {v: x}`
}

// On these the language host exits without a message.
func TestDefaultsThatPulumiYAMLExitsOnAreFaults(t *testing.T) {
	const item = "must be a string, a number or a boolean that is no secret"
	for fields, want := range map[string]string{
		`type: "List<List<String>>"`:                     "program.config.t.type: is a list of lists",
		`type: array, items: {type: "List<String>"}`:     "program.config.t.type: is a list of lists",
		`default: [[a]]`:                                 "program.config.t.default[0]: " + item,
		`type: List<Object>, default: [{a: b}]`:          "program.config.t.default[0]: " + item,
		`type: List<String>, default: [a, null]`:         "program.config.t.default[1]: " + item,
		`default: ["${s}"]`:                              "program.config.t.default[0]: " + item,
		`value: ["x ${s}"]`:                              "program.config.t.value[0]: " + item,
		`default: [{"fn::secret": a}]`:                   "program.config.t.default[0]: " + item,
		`default: [{"fn::toBase64": {"fn::secret": a}}]`: "program.config.t.default[0]: " + item,
		`default: [{"fn::stringAsset": a}]`:              "program.config.t.default[0]: " + item,
		`default: [{"fn::split": [",", "a,b"]}]`:         "program.config.t.default[0]: " + item,
	} {
		NewWithT(t).Expect(withoutLines(checked(t, withDefault(fields)).Invalid)).To(ConsistOf(HavePrefix(want)), fields)
	}
}

func TestDefaultsThatPulumiEvaluatesAreNoFaults(t *testing.T) {
	for _, fields := range []string{
		`default: "${b}"`, `default: "x ${b}"`, `type: String, default: "${pulumi.stack}"`, `default: "${pulumi}"`, `default: "$${z}"`, `default: "${demo:b}"`,
		`default: {a: "${b}"}`, `default: {a: "${s}"}`, `default: {a: {"${s}": ["${s}"]}}`, `default: {a: {"fn::secret": x}}`, `default: {"${b}": x}`, `default: ["${b}"]`, `default: [x, {"fn::toBase64": a}]`,
		`type: String, default: {"fn::toBase64": a}`, `type: Integer, default: {"fn::length": abc}`, `type: "List<String>", default: {"fn::split": [",", "a,b"]}`,
		`default: {"fn::select": [0, [a]]}`, `default: {"fn::toBase64": a, b: c}`,
	} {
		NewWithT(t).Expect(lines(checked(t, withDefault(fields)).Invalid)).To(BeEmpty(), fields)
	}
}
