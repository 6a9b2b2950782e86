// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Nullable has the API server keep the nulls that it would drop without a word: with
// them go sections of a Program, and entries of a Stack, that were left empty by
// mistake, and Pulumi would delete what they were for. Kept, they are seen and
// refused. There is no marker of controller-gen for the values of a map, and one on
// each field of a Program would be forgotten on the next.
//
// It is a part of `make generate`, and rewrites the CRDs in the directory given.
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

// schema is a part of the schema of a CRD, as it is in its file.
type schema map[string]any

// markProgram keeps all nulls of a program, for the controller to refuse by path and
// line those that Pulumi does not take.
func markProgram(crd schema) {
	crd.in("properties", "program").markFields()
}

// markStack keeps the null of an entry of a map: it is a value that was lost. That of
// a field of its own is no value, as everywhere in Kubernetes.
func markStack(crd schema) {
	crd.in("properties", "spec").markEntries()
}

// markFields marks all below a schema. A field that is required is left: the API
// server refuses the null of one. So is the item of a list, for the same reason.
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

// in is a part of a schema, nil where there is none.
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
	decoder.UseNumber() // a float64 would write its numbers in another way
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
