// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package main

import "slices"

// The functions below make the API server keep nulls that it would drop silently. Sections
// of a Program, and entries of a Stack, that were left empty by mistake would go with them,
// and Pulumi would delete their resources. Once kept, they are noticed and refused.
// controller-gen has no marker for the values of a map, and a marker on each field of a
// Program would be forgotten on the next field.

// markProgram keeps all nulls of a program, so that the controller can refuse those that
// Pulumi does not accept, by path and line.
func markProgram(crd schema) {
	crd.in("properties", "program").markFields()
}

// markEntriesOfSpec keeps the null of an entry of a map: a value got lost there. The null of
// a field is no value, as everywhere in Kubernetes.
func markEntriesOfSpec(crd schema) {
	crd.in("properties", "spec").markEntries()
}

// markFields marks all fields below a schema but the required ones and the items of
// lists, whose nulls the API server refuses.
func (s schema) markFields() {
	required, _ := s["required"].([]any)
	for name := range s.in("properties") {
		if !slices.Contains(required, any(name)) {
			s.in("properties", name)["nullable"] = true
		}
	}
	if values := s.in("additionalProperties"); values != nil {
		values["nullable"] = true
	}
	for _, below := range s.below() {
		below.markFields()
	}
}

// markEntries marks the values of all maps below a schema.
func (s schema) markEntries() {
	if values := s.in("additionalProperties"); values != nil {
		values["nullable"] = true
	}
	for _, below := range s.below() {
		below.markEntries()
	}
}
