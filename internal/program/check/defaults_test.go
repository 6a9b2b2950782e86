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

func TestDefaultsThatNoRunCouldEvaluateAreFaults(t *testing.T) {
	for fields, want := range map[string]string{
		`type: "List<List<String>>"`:                         "program.config.t.type: is no type",
		`type: array, items: {type: "List<String>"}`:         "program.config.t.type: is no type",
		`default: "${v}"`:                                    "program.config.t.default: refers to v, and a default can refer to ${pulumi} and to config values that are before it in the alphabet only",
		`default: "${r.name}"`:                               "refers to r, and",
		`default: "x ${z}"`:                                  "refers to z, and",
		`value: "${z}"`:                                      "program.config.t.value: refers to z, and",
		`default: "${t}"`:                                    "refers to t, and",
		`default: "${nope}"`:                                 "refers to nope, and",
		`default: {a: ["${z}"]}`:                             "program.config.t.default.a[0]: refers to z, and",
		`default: {"${z}": a}`:                               `program.config.t.default["${z}"]: refers to z, and`,
		`default: {"fn::join": ["", ["${z}"]]}`:              "program.config.t.default.fn::join[1][0]: refers to z, and",
		`default: "${s}"`:                                    "refers to the secret s, and a secret can be no part of a default",
		`default: {"${s}": a}`:                               "refers to the secret s",
		`default: ["${s}"]`:                                  "refers to the secret s",
		`default: "x ${s}"`:                                  "refers to the secret s",
		`default: {"fn::secret": a}`:                         "program.config.t.default: is a secret, an asset or what a function of a provider returns, and no default can be",
		`default: {"fn::unsecret": a}`:                       "is a secret",
		`default: {"fn::toBase64": {"fn::secret": a}}`:       "is a secret",
		`default: {"fn::split": [",", {"fn::secret": a}]}`:   "is a secret",
		`default: {"fn::stringAsset": a}`:                    "is a secret, an asset",
		`default: {"fn::assetArchive": {}}`:                  "is a secret, an asset",
		`default: {"fn::invoke": {function: "a:b:c"}}`:       "is a secret",
		`default: {"fn::a:b:c": {}}`:                         "is a secret",
		`default: [{"fn::secret": a}]`:                       "program.config.t.default[0]: is a secret",
		`default: [{"fn::stringAsset": a}]`:                  "program.config.t.default[0]: is an asset: a default can be a list",
		`type: Number, default: {"fn::toBase64": a}`:         "must be a number, as the type says, and is a string",
		`type: String, default: {"fn::length": a}`:           "must be a string, as the type says, and is a number",
		`type: Number, default: "${pulumi.stack}"`:           "must be a number, as the type says, and is a string",
		`type: Number, default: "x ${b}"`:                    "must be a number, as the type says, and is a string",
		`type: String, default: {"fn::split": [",", "a,b"]}`: "must be a string, as the type says, and is a list",
	} {
		NewWithT(t).Expect(withoutLines(checked(t, withDefault(fields)).Invalid)).To(ConsistOf(HavePrefix("program.config.t")), fields)
		NewWithT(t).Expect(withoutLines(checked(t, withDefault(fields)).Invalid)).To(ConsistOf(ContainSubstring(want)), fields)
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
