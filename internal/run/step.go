// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package run

// OpRetain is the Op of a resource that the stack does not manage any more, and that stays in
// place because of retainOnDelete. Pulumi calls it a deletion.
const OpRetain = "retain"

// Step is what an update would do to a resource. Its texts are masked, and contain no
// values.
type Step struct {
	// Op is create, update, replace, delete or import, or OpRetain.
	Op   string `json:"op"`
	URN  string `json:"urn"`
	Type string `json:"type"`
	// Paths of the properties that change: the first ones, in order.
	Paths []string `json:"paths,omitempty"`
}
