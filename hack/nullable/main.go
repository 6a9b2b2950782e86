// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Nullable makes the API server keep nulls that it would drop silently. Sections of a
// Program, and entries of a Stack, that were left empty by mistake would go with them,
// and Pulumi would delete their resources. Once kept, they are noticed and refused.
// controller-gen has no marker for the values of a map, and a marker on each field of a
// Program would be forgotten on the next field.
//
// It is a part of `make generate`, and rewrites the CRDs in a directory.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"sigs.k8s.io/yaml"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: nullable DIRECTORY-OF-CRDS")
		os.Exit(2)
	}
	for name, mark := range map[string]func(schema){"pulumi.com_programs.yaml": markProgram, "pulumi.com_stacks.yaml": markStack} {
		if err := rewrite(filepath.Join(os.Args[1], name), mark); err != nil {
			fmt.Fprintln(os.Stderr, "nullable:", err)
			os.Exit(1)
		}
	}
}

// schema is a part of the schema of a CRD, as in its file.
type schema map[string]any

// markProgram keeps all nulls of a program, so that the controller can refuse those that
// Pulumi does not accept, by path and line.
func markProgram(crd schema) {
	crd.in("properties", "program").markFields()
}

// markStack keeps the null of an entry of a map: a value got lost there. The null of a
// field is no value, as everywhere in Kubernetes.
func markStack(crd schema) {
	crd.in("properties", "spec").markEntries()
}

// markFields marks all fields below a schema but the required ones and the items of
// lists, whose nulls the API server refuses.
func (s schema) markFields() {
	required, _ := s["required"].([]any)
	for name := range s.in("properties") {
		field := s.in("properties", name)
		if !slices.Contains(required, any(name)) {
			field["nullable"] = true
		}
		field.markFields()
	}
	if values := s.in("additionalProperties"); values != nil {
		values["nullable"] = true
		values.markFields()
	}
	if items := s.in("items"); items != nil {
		items.markFields()
	}
}

// markEntries marks the values of all maps below a schema.
func (s schema) markEntries() {
	for name := range s.in("properties") {
		s.in("properties", name).markEntries()
	}
	if values := s.in("additionalProperties"); values != nil {
		values["nullable"] = true
		values.markEntries()
	}
	if items := s.in("items"); items != nil {
		items.markEntries()
	}
}

// in returns a part of a schema, nil if there is none.
func (s schema) in(path ...string) schema {
	for _, key := range path {
		inner, _ := s[key].(map[string]any)
		s = inner
	}
	return s
}

// rewrite marks the schemas of all versions in a file.
func rewrite(path string, mark func(schema)) error {
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
		mark(schema(fields).in("schema", "openAPIV3Schema"))
	}
	marked, err := yaml.Marshal(crd)
	if err != nil {
		return fmt.Errorf("failed to write %s: %w", path, err)
	}
	if err := os.WriteFile(path, append([]byte("---\n"), marked...), 0o644); err != nil {
		return fmt.Errorf("failed to write the CRD: %w", err)
	}
	return nil
}
