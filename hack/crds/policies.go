// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package main

import "github.com/flux-pulumi/pulumi-controller/internal/policy"

// typePolicies makes the config of each policy an object whose level is checked. In Go it is
// any JSON, for which controller-gen writes a schema without a type, and the API server can
// check nothing of a map with such values.
func typePolicies(crd schema) {
	config := crd.in("properties", "spec", "properties", "packs", "items", "properties", "config")
	config["additionalProperties"] = map[string]any{
		"type": "object",
		"properties": map[string]any{"enforcementLevel": map[string]any{
			"description": "EnforcementLevel is the level of the policy: what follows from a violation.",
			"type":        "string",
			"enum":        policy.Levels(),
		}},
		"x-kubernetes-preserve-unknown-fields": true,
	}
}
