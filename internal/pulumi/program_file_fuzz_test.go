// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"strings"
	"testing"

	"github.com/pulumi/pulumi-yaml/pkg/pulumiyaml/ast"
	"github.com/pulumi/pulumi-yaml/pkg/pulumiyaml/syntax/encoding"
	"gopkg.in/yaml.v3"
)

// FuzzSections compares what is read of a program with what Pulumi YAML reads: no program
// without resources is taken for one with resources, and none that Pulumi YAML can run is
// taken for one without, unless it says so.
func FuzzSections(f *testing.F) {
	for _, seed := range []string{
		"", "null", "{}", "[]", "resources:\n", "resources: []", "resources: {}", "resources: {a: {type: b:c:D}}", "Resources: {a: {type: b:c:D}}",
		"resources: {a: {type: b:c:D}}\nresources: {}", "resources: {}\nRESOURCES: {a: {type: b:c:D}}", "<<: {resources: {a: {type: b:c:D}}}",
		"---\n---\nresources: {}", "x: &x {}\nresources: *x", "resources: !x {}", "\"reſources\": {}", "outputs: {o: 1}", "outputs: {}\noutputs: {a: 1}",
		"variables: {v: {fn::secret: a}}", "outputs: {o: 1}\noutputs: {}", "? resources\n: {}", "!!null resources: {}", "1: 2", "resources: !!null {}",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		template := templateOf(text)
		if template == nil {
			return
		}
		read, ok := sectionsOf([]byte(text))
		if !ok {
			t.Fatal("Pulumi YAML can run what is taken for no program")
		}
		if got, want := len(read.resources) > 0, len(template.Resources.Entries) > 0; got != want {
			t.Fatalf("has resources: %t, and for Pulumi YAML: %t", got, want)
		}
		if values := len(template.Variables.Entries)+len(template.Outputs.Entries) > 0; values && !read.values {
			t.Fatal("has values for Pulumi YAML alone")
		}
	})
}

// templateOf returns the program that Pulumi YAML would run, nil if there is none. Its parser
// panics on a key that is null.
func templateOf(text string) (template *ast.TemplateDecl) {
	defer func() {
		if recover() != nil {
			template = nil
		}
	}()
	object, diags := encoding.DecodeYAML("Main.yaml", yaml.NewDecoder(strings.NewReader(text)), nil)
	if diags.HasErrors() {
		return nil
	}
	if template, diags = ast.ParseTemplate([]byte(text), object); diags.HasErrors() {
		return nil
	}
	return template
}
