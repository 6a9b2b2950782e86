// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package run

// Step is what an update would do to a resource. Its texts are masked, and none is a
// value.
type Step struct {
	// Op is create, update, replace, delete, import or read, or drift where a refresh
	// finds a resource that is not as it was.
	Op   string `json:"op"`
	URN  string `json:"urn"`
	Type string `json:"type"`
	// Paths of the properties that change, the first of them in order.
	Paths []string `json:"paths,omitempty"`
}
