// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package v1

// InventoryStatus describes the list of the resources that the stack manages.
// The controller maintains it in a ConfigMap that the Stack owns. Updates do
// not depend on it.
type InventoryStatus struct {
	// ConfigMap is the name of the ConfigMap. Its key resources.json.gz in
	// binaryData contains the URN, type, parent and masked ID of each resource,
	// as gzipped JSON.
	// +optional
	ConfigMap string `json:"configMap,omitempty"`

	// Digest of the content of the key, as sha256:<checksum>. The ConfigMap is
	// written when it changes.
	// +optional
	Digest string `json:"digest,omitempty"`

	// Count is the number of resources, without the stack's own entry and the
	// default providers that Pulumi creates.
	// +optional
	Count int32 `json:"count,omitempty"`

	// Message says what is missing from the list, or why it could not be
	// written the last time. The controller then retries at spec.retryInterval
	// and after each run.
	// +optional
	Message string `json:"message,omitempty"`
}
