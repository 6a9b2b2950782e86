// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package main

// dropDescriptions removes the texts of all fields below a schema, and keeps its own.
// Client-side kubectl apply stores a copy of the CRD in an annotation, which may have
// 256 KiB: two versions with the same texts would soon be too much.
func dropDescriptions(root schema) {
	for _, field := range root.below() {
		delete(field, "description")
		dropDescriptions(field)
	}
}
