// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package manifests

import (
	"slices"
	"testing"

	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// TestManifestsOfTheCRDsKeepNulls expects that the schemas keep what the API server would otherwise drop silently:
// any null of a program, and the entries of a Stack's maps.
func TestManifestsOfTheCRDsKeepNulls(t *testing.T) {
	for kind, crd := range readCRDs(t) {
		for _, version := range crd.Spec.Versions {
			t.Run(kind+" "+version.Name, func(t *testing.T) {
				g := NewWithT(t)
				root := *version.Schema.OpenAPIV3Schema
				var fields, entries []string
				if kind == "Program" {
					g.Expect(root.Required).To(ContainElement("program"), "or null would be no program at all")
					fields, entries = dropped("program", root.Properties["program"])
				} else {
					_, entries = dropped("spec", root.Properties["spec"])
				}
				g.Expect(fields).To(BeEmpty(), "fields whose null is dropped")
				g.Expect(entries).To(BeEmpty(), "maps of whose entries a null is dropped")
			})
		}
	}
}

// dropped lists the fields and maps below a schema from which the API server drops a null.
func dropped(path string, schema apiextensionsv1.JSONSchemaProps) (fields, entries []string) {
	visit := func(path string, inner apiextensionsv1.JSONSchemaProps) {
		f, e := dropped(path, inner)
		fields, entries = append(fields, f...), append(entries, e...)
	}
	for name, field := range schema.Properties {
		if !field.Nullable && !slices.Contains(schema.Required, name) {
			fields = append(fields, path+"."+name)
		}
		visit(path+"."+name, field)
	}
	if values := schema.AdditionalProperties; values != nil && values.Schema != nil {
		if !values.Schema.Nullable {
			entries = append(entries, path+".*")
		}
		visit(path+".*", *values.Schema)
	}
	if items := schema.Items; items != nil && items.Schema != nil {
		visit(path+"[]", *items.Schema)
	}
	return fields, entries
}

// testNulls checks that the controller can see empty fields, in a new object and in an updated one.
func testNulls(t *testing.T, server *api) {
	namespace := server.namespace(t)
	const full = "{resources: {a: {type: 'a:B', properties: {a: b}, options: {protect: true}}}, outputs: {a: b}}"
	for _, text := range []string{
		"{resources: }", "{config: , configuration: , variables: , outputs: , packages: , pulumi: , description: }",
		"{pulumi: {requiredVersion: }}",
		"{config: {a: {default: , description: , items: , name: , secret: , type: , value: }}}",
		"{configuration: {a: {default: , description: , items: , name: , secret: , type: , value: }}}",
		"{resources: {a: {type: 'a:B', defaultProvider: , get: , name: , options: , properties: }}}",
		"{resources: {a: {type: 'a:B', get: {id: x, state: }}}}",
		"{resources: {a: {type: 'a:B', get: {id: x, state: {a: }}}}}",
		"{resources: {a: {type: 'a:B', options: {aliases: , dependsOn: , ignoreChanges: , import: , protect: , retainOnDelete: }}}}",
		"{resources: {a: {type: 'a:B', options: {customTimeouts: }}}}",
		"{resources: {a: {type: 'a:B', options: {customTimeouts: {create: , delete: , read: , update: }}}}}",
	} {
		t.Run(text, func(t *testing.T) {
			server.accepts(t, namespace, "program", program(t, text))
			g := NewWithT(t)
			object := program(t, full)
			object.SetNamespace(namespace)
			g.Expect(server.strict.Create(t.Context(), object)).To(Succeed())
			want := program(t, text).Object["program"]
			object.Object["program"] = want
			g.Expect(server.strict.Update(t.Context(), object)).To(Succeed())
			g.Expect(object.Object["program"]).To(Equal(want))
		})
	}
}
