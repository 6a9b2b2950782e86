// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package run

// Inventory is what a run reports on the resources that its stack manages.
type Inventory struct {
	// Complete reports whether Resources lists all. Otherwise it lists those that the run
	// has seen, and the others are unchanged.
	Complete bool `json:",omitempty"`
	// Resources by URN, without the stack's own entry and Pulumi's default providers.
	Resources []Resource `json:",omitempty"`
	// Gone are the URNs of resources that the stack does not manage any more.
	Gone []string `json:",omitempty"`
	// LeftOut is the number of resources beyond the limit.
	LeftOut int `json:",omitempty"`
	// WithoutIDs reports whether the IDs are left out to save space.
	WithoutIDs bool `json:",omitempty"`
	// Missed reports whether some of Pulumi's events could not be read.
	Missed bool `json:",omitempty"`
}

// sizeOfEach is about what an entry of a list uses in memory beside its texts, in bytes.
const sizeOfEach = 64

// Size returns about how many bytes the lists use in memory.
func (i Inventory) Size() int {
	bytes := sizeOfEach * (len(i.Resources) + len(i.Gone))
	for _, r := range i.Resources {
		bytes += len(r.URN) + len(r.Type) + len(r.ID) + len(r.Parent)
	}
	for _, urn := range i.Gone {
		bytes += len(urn)
	}
	return bytes
}

// Resource is a resource that the stack manages. Its texts are masked.
type Resource struct {
	// URN and Type of the resource. The URN ends with its name.
	URN  string `json:"urn"`
	Type string `json:"type"`
	// ID at the provider. A component has none.
	ID string `json:"id,omitempty"`
	// Parent is the URN of the parent, unless that is the stack.
	Parent string `json:"parent,omitempty"`
	// Protected resources are not deleted by Pulumi, and External ones are only read.
	Protected bool `json:"protect,omitempty"`
	External  bool `json:"external,omitempty"`
}
