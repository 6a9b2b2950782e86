// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package migration

import (
	"reflect"
	"regexp"
	"slices"
	"strings"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

// Fields are the fields that the spec of a Stack sets.
type Fields struct {
	// Applied are those that mean here what they mean with the operator.
	Applied []string `json:"applied,omitempty"`
	// WithoutEffect are those that are accepted and change nothing.
	WithoutEffect []string `json:"withoutEffect,omitempty"`
	// Unsupported are those that the controller does not run a Stack with, as they are.
	Unsupported []string `json:"unsupported,omitempty"`
}

// withoutEffect are the fields of the operator of which there is nothing to do here.
func withoutEffect() []string {
	return []string{"shallow", "updateTemplate", "workspaceReclaimPolicy"}
}

var named = regexp.MustCompile(`\bspec\.([A-Za-z]+)`)

// fieldsOf sorts the fields of a spec by what happens to them. Faults name the fields that the
// controller does not accept.
func fieldsOf(set, faults []string) Fields {
	var refused []string
	for _, fault := range faults {
		if found := named.FindStringSubmatch(fault); found != nil {
			refused = append(refused, found[1])
		}
	}
	known := knownFields()
	var fields Fields
	for _, field := range slices.Sorted(slices.Values(set)) {
		switch {
		case slices.Contains(refused, field), !known[field]:
			fields.Unsupported = append(fields.Unsupported, field)
		case slices.Contains(withoutEffect(), field):
			fields.WithoutEffect = append(fields.WithoutEffect, field)
		default:
			fields.Applied = append(fields.Applied, field)
		}
	}
	return fields
}

// knownFields are those of the API of this controller.
func knownFields() map[string]bool {
	known := map[string]bool{}
	var add func(of reflect.Type)
	add = func(of reflect.Type) {
		for i := range of.NumField() {
			field := of.Field(i)
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			if name == "" && field.Type.Kind() == reflect.Struct {
				add(field.Type)
				continue
			}
			known[name] = true
		}
	}
	add(reflect.TypeFor[v1.StackSpec]())
	return known
}
