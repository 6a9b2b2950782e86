// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package v1

// InventoryStatus tells of the list of the resources that the stack manages. It is
// kept in a ConfigMap that the Stack owns, by the controller alone, and is no part of
// what an update rests on.
type InventoryStatus struct {
	// ConfigMap is the name of the ConfigMap. Its key resources.json.gz in binaryData
	// has the URN, type, parent and masked ID of each resource, as JSON in gzip.
	// +optional
	ConfigMap string `json:"configMap,omitempty"`

	// Digest of what the key has, as sha256:<checksum>. It is written when that changes.
	// +optional
	Digest string `json:"digest,omitempty"`

	// Count is how many resources there are, without the stack's own entry and the
	// providers that Pulumi makes by itself.
	// +optional
	Count int32 `json:"count,omitempty"`

	// Message tells what the list lacks, or why it could not be written the last
	// time. It is then tried again, at spec.retryInterval and after each run.
	// +optional
	Message string `json:"message,omitempty"`
}
