// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// PreviewStatus tells of a preview that somebody has asked for. It is no reconcile of
// the Stack: no condition, revision or event tells of it.
type PreviewStatus struct {
	// Request is the value of the annotation pulumi.com/preview-requested-at that was
	// answered.
	// +required
	Request string `json:"request"`

	// Run is the ID of the run. There is none where the preview was refused.
	// +optional
	Run string `json:"run,omitempty"`

	// Revision of the program.
	// +optional
	Revision string `json:"revision,omitempty"`

	// State is succeeded or failed, and empty while the run is in flight.
	// +optional
	State UpdateState `json:"state,omitempty"`

	// Message tells why it failed or was refused.
	// +optional
	Message string `json:"message,omitempty"`

	// StartedAt is when the run was recorded.
	// +optional
	StartedAt *metav1.Time `json:"startedAt,omitempty"`

	// EndedAt is when the preview ended, or was refused.
	// +optional
	EndedAt *metav1.Time `json:"endedAt,omitempty"`

	// ResourceChanges that an update would make.
	ResourceChanges `json:",inline"`

	// ConfigMap is the name of the ConfigMap that the Stack owns and whose key
	// steps.json.gz in binaryData has what would be done to each resource, with the
	// names of the properties that change and none of their values, as JSON in gzip.
	// +optional
	ConfigMap string `json:"configMap,omitempty"`

	// Digest of what the key has, as sha256:<checksum>.
	// +optional
	Digest string `json:"digest,omitempty"`
}
