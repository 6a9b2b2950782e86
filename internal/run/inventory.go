// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package run

// Inventory is what a run tells of the resources that its stack manages.
type Inventory struct {
	// Complete says that Resources are all there are. Otherwise they are those that
	// the run has seen: the others are as they were.
	Complete bool `json:",omitempty"`
	// Resources by URN, without the stack's own entry and the providers that Pulumi
	// makes by itself.
	Resources []Resource `json:",omitempty"`
	// Gone are the URNs of those that the stack does not manage any more.
	Gone []string `json:",omitempty"`
	// LeftOut is how many there were too many of.
	LeftOut int `json:",omitempty"`
	// WithoutIDs says that the IDs of the resources are left out, for want of space.
	WithoutIDs bool `json:",omitempty"`
	// Missed says that some of what Pulumi told could not be read.
	Missed bool `json:",omitempty"`
}

// Resource is one that the stack manages. Its texts are masked.
type Resource struct {
	// URN and Type of the resource. Its name is the end of its URN.
	URN  string `json:"urn"`
	Type string `json:"type"`
	// ID that its provider knows it by. A component has none.
	ID string `json:"id,omitempty"`
	// Parent is the URN of the resource that it belongs to, if that is not the stack.
	Parent string `json:"parent,omitempty"`
	// Protected resources are not deleted by Pulumi, and External ones are only read.
	Protected bool `json:"protect,omitempty"`
	External  bool `json:"external,omitempty"`
}
