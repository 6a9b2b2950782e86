// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Crds changes the CRDs in a directory in ways that controller-gen has no marker for:
// nullable.go, descriptions.go and policies.go say how and why. It is a part of `make generate`.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"sigs.k8s.io/yaml"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: crds DIRECTORY-OF-CRDS")
		os.Exit(2)
	}
	for name, change := range map[string]func(version string, root schema){
		"pulumi.com_programs.yaml": func(_ string, root schema) { markProgram(root) },
		"pulumi.com_policysets.yaml": func(_ string, root schema) {
			typePolicies(root)
			markEntriesOfSpec(root)
		},
		"pulumi.com_stacks.yaml": func(version string, root schema) {
			markEntriesOfSpec(root)
			if version == "v1alpha1" {
				dropDescriptions(root)
			}
		},
	} {
		if err := rewrite(filepath.Join(os.Args[1], name), change); err != nil {
			fmt.Fprintln(os.Stderr, "crds:", err)
			os.Exit(1)
		}
	}
}

// schema is a part of the schema of a CRD, as in its file.
type schema map[string]any

// in returns a part of a schema, nil if there is none.
func (s schema) in(path ...string) schema {
	for _, key := range path {
		inner, _ := s[key].(map[string]any)
		s = inner
	}
	return s
}

// below returns the schemas of fields, values of maps and items of lists.
func (s schema) below() []schema {
	var all []schema
	for name := range s.in("properties") {
		all = append(all, s.in("properties", name))
	}
	for _, key := range []string{"additionalProperties", "items"} {
		if inner := s.in(key); inner != nil {
			all = append(all, inner)
		}
	}
	return all
}

// rewrite changes the schemas of all versions in a file.
func rewrite(path string, change func(version string, root schema)) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("failed to read the CRD: %w", err)
	}
	object, err := yaml.YAMLToJSON(text)
	if err != nil {
		return fmt.Errorf("failed to read %s: %w", path, err)
	}
	decoder := json.NewDecoder(bytes.NewReader(object))
	decoder.UseNumber() // a float64 would change how numbers are written
	crd := schema{}
	if err := decoder.Decode(&crd); err != nil {
		return fmt.Errorf("failed to read %s: %w", path, err)
	}
	versions, _ := crd.in("spec")["versions"].([]any)
	for _, version := range versions {
		fields, _ := version.(map[string]any)
		name, _ := fields["name"].(string)
		change(name, schema(fields).in("schema", "openAPIV3Schema"))
	}
	changed, err := yaml.Marshal(crd)
	if err != nil {
		return fmt.Errorf("failed to write %s: %w", path, err)
	}
	if err := os.WriteFile(path, append([]byte("---\n"), changed...), 0o644); err != nil {
		return fmt.Errorf("failed to write the CRD: %w", err)
	}
	return nil
}
