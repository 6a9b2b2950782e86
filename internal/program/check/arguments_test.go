// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/program"
)

// The package that runs Pulumi tests that Pulumi refuses the same.

func TestResourcesThatPulumiCannotTellFromEachOtherAreFaults(t *testing.T) {
	for text, want := range map[string]string{
		`a: {type: x:Y, name: m}, b: {type: x:Y, name: m}`:  "program.resources.b: has the type and the name of the resource a, and Pulumi could not distinguish them",
		`a: {type: x:Y, name: b}, b: {type: x:Y}`:           "program.resources.b: has the type and the name of the resource a",
		`a: {type: x:Y, name: ""}, b: {type: x:Y, name: a}`: "program.resources.b: has",
		`p: {type: x:Z}, a: {type: x:Y, name: m, options: {parent: "${p}"}}, b: {type: x:Y, name: m, options: {parent: "${p}"}}`: "program.resources.b: has",
		`p: {type: x:Z}, a: {type: x:Y, name: m, options: {parent: "${p}"}}, b: {type: x:Y, name: m}`:                            "",
		`a: {type: x:Y, name: m}, b: {type: x:Z, name: m}`:                                                                       "",
		`a: {type: x:Y}, A: {type: x:Y}, " ": {type: x:Y}`:                                                                       "",
	} {
		faults := withoutLines(checked(t, "resources: {"+text+"}").Invalid)
		if want == "" {
			NewWithT(t).Expect(faults).To(BeEmpty(), text)
			continue
		}
		NewWithT(t).Expect(faults).To(ConsistOf(HavePrefix(want)), text)
	}
}

func TestConflictsWithTheDefaultProviderAreFaults(t *testing.T) {
	with := func(standard, rest string) string {
		return `resources: {p: {type: "pulumi:providers:a", defaultProvider: true, options: {` + standard + `}}, ` + rest
	}
	for text, want := range map[string]string{
		with("", `r: {type: a:B, options: {version: 1.0.0}}}`):                                    "program.resources.r.options.version: is not that of the default provider p, which the resource has: remove it, or give both the same",
		with("version: 2.0.0", `r: {type: a:B, options: {version: 1.0.0}}}`):                      "",
		with("version: 1.0.0", `r: {type: a:B, options: {version: 1.0.0}}}`):                      "",
		with("", `r: {type: a:B, options: {pluginDownloadURL: "https://x"}}}`):                    "program.resources.r.options.pluginDownloadURL: is not that",
		with("", `r: {type: b:B, options: {version: 1.0.0}}}`):                                    "",
		with("", `r: {type: a:B, options: {version: 1.0.0, provider: "${p}"}}}`):                  "",
		`resources: {p: {type: "pulumi:providers:a"}, r: {type: a:B, options: {version: 1.0.0}}}`: "",
	} {
		faults := withoutLines(checked(t, text).Invalid)
		if want == "" {
			NewWithT(t).Expect(faults).To(BeEmpty(), text)
			continue
		}
		NewWithT(t).Expect(faults).To(ConsistOf(HavePrefix(want)), text)
	}
}

func withoutLines(faults program.Faults) []string {
	var all []string
	for _, fault := range faults.First {
		all = append(all, fault.Path+": "+fault.Message)
	}
	return all
}

func TestArgumentsThatAreFaultsWhereverTheCallIs(t *testing.T) {
	for _, text := range []string{
		`variables: {v: {"fn::toBase64": 1}}`, `outputs: {o: [{a: {"Fn::ToBase64": null}}]}`, `resources: {a: {type: a:B, properties: {x: {"fn::toBase64": []}}}}`,
		`resources: {a: {type: a:B, get: {id: {"fn::toBase64": 1}}}}`, `outputs: {o: {"fn::secret": {"fn::toBase64": {}}}}`,
	} {
		NewWithT(t).Expect(lines(checked(t, text).Invalid)).To(ConsistOf(ContainSubstring("must be a string, or an expression that is one, and is ")), text)
	}
}

func TestValidArgumentsAreNoFaults(t *testing.T) {
	for _, argument := range []string{
		`"fn::join": [null, [a]]`, `"fn::join": ["", []]`, `"fn::join": ["${v}", "${v}"]`, `"fn::join": ["x${v}", ["${v}", {"fn::secret": 1}]]`,
		`"fn::split": ["", ""]`, `"fn::split": ["${v}", {"fn::secret": 1}]`, `"fn::select": ["${v}", "${v}"]`, `"fn::select": [1.0, [a, b]]`, `"fn::select": [7, "${v}"]`,
		`"fn::toBase64": ""`, `"fn::fromBase64": ""`, `"fn::fromBase64": "eA=="`, `"fn::fromBase64": "${v}="`, `"fn::length": ""`, `"fn::length": {}`, `"fn::length": []`,
		`"fn::singleOrNone": []`, `"fn::singleOrNone": ["${v}"]`, `"fn::toJSON": null`, `"fn::secret": null`, `"fn::sha1": ""`, `"fn::stringAsset": ""`, `"fn::readFile": Main.yaml`,
		`"fn::stackReference": [a/b/c, "${v}"]`, `"fn::pulumiResourceName": "${w}"`, `"fn::toBase64": "1"`, `a: 1`, `"fn::toBase64": 1, b: 2`,
	} {
		NewWithT(t).Expect(lines(checked(t, "variables: {v: x, w: {'fn::select': [0, ['${v}']]}}\noutputs: {o: {"+argument+"}}").Invalid)).To(BeEmpty(), argument)
	}
}
