// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"testing"

	. "github.com/onsi/gomega"
	"github.com/pulumi/pulumi/sdk/v3/go/common/encoding"
	"github.com/pulumi/pulumi/sdk/v3/go/common/workspace"
)

func TestTheOptionBinaryIsSetInAProjectFile(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ text, want string }{
		"a name": {
			"# a comment\nname: demo\nruntime: go\ndescription: \"1.10\"\n",
			"# a comment\nname: demo\nruntime: {\"name\": go, \"options\": {\"binary\": \"/run/built/program\"}}\ndescription: \"1.10\"\n",
		},
		"a mapping without options": {
			"name: demo\nruntime:\n    name: go\n", "name: demo\nruntime:\n    name: go\n    \"options\": {\"binary\": \"/run/built/program\"}\n",
		},
		"options": {
			"runtime:\n    name: go\n    options:\n        other: true\nname: demo\n",
			"runtime:\n    name: go\n    options:\n        other: true\n        \"binary\": \"/run/built/program\"\nname: demo\n",
		},
		"config": {
			"name: demo\nruntime: go\nconfig:\n    a: {type: integer, default: 9007199254740993}\n    b: {default: \"yes\"}\n    aws:region: {value: eu-west-1}\n",
			"name: demo\nruntime: {\"name\": go, \"options\": {\"binary\": \"/run/built/program\"}}\n" +
				"config:\n    a: {type: integer, default: 9007199254740993}\n    b: {default: \"yes\"}\n    aws:region: {value: eu-west-1}\n",
		},
		"an alias":          {"name: &go go\nruntime: *go\n", ""},
		"shared options":    {"name: demo\ntemplate: {config: &x {}}\nruntime: {name: go, options: *x}\n", ""},
		"options as null":   {"name: demo\nruntime: {name: go, options: }\n", ""},
		"nothing":           {"", ""},
		"no YAML":           {"name: [", ""},
		"a list":            {"[name, demo]", ""},
		"without runtime":   {"name: demo", ""},
		"runtime as a list": {"name: demo\nruntime: [go]", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := NewWithT(t)
			edited, err := withBinary([]byte(test.text), "/run/built/program", encoding.YAML)
			if test.want == "" {
				g.Expect(err).To(HaveOccurred())
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(string(edited)).To(Equal(test.want))
			project, err := workspace.LoadProjectBytes(edited, "Pulumi.yaml", encoding.YAML)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(needsOf(project).built).To(BeTrue())
		})
	}
}

func TestTheOptionBinaryIsSetInAProjectFileInJSON(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"{\n  \"name\": \"demo\",\n  \"runtime\": \"go\",\n  \"description\": \"a \\u00e4 \\\" b\"\n}\n",
		"{\"name\": \"demo\", \"runtime\": {\"name\": \"go\", \"options\": {\"a\": null}}, \"main\": \"infra\"}",
	} {
		g := NewWithT(t)
		edited, err := withBinary([]byte(text), "/run/built/program", encoding.JSON)
		g.Expect(err).NotTo(HaveOccurred(), text)
		project, err := workspace.LoadProjectBytes(edited, "Pulumi.json", encoding.JSON)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(needsOf(project).built).To(BeTrue())
	}
}
