// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// PreviewedStackReference names the Stack that is to run what a preview shows.
type PreviewedStackReference struct {
	// Name of the Stack.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +required
	Name string `json:"name"`

	// Namespace of the Stack, which has to list the namespace of the preview in
	// spec.approval.previewNamespaces. Defaults to the namespace of the preview.
	// +kubebuilder:validation:MaxLength=63
	// +optional
	Namespace string `json:"namespace,omitempty"`
}

// PreviewStatus describes a requested preview. It is not a
// reconcile of the Stack: it has no effect on conditions, revisions or events.
type PreviewStatus struct {
	// Request is the value of the annotation pulumi.com/preview-requested-at
	// that was answered.
	// +required
	Request string `json:"request"`

	// Run is the ID of the run. It is absent if the preview was refused.
	// +optional
	Run string `json:"run,omitempty"`

	// Revision of the program.
	// +optional
	Revision string `json:"revision,omitempty"`

	// State is succeeded or failed, and empty while the run is in flight.
	// +optional
	State UpdateState `json:"state,omitempty"`

	// Message says why it failed or was refused, or what it waits for.
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

	// ConfigMap is the name of a ConfigMap that the Stack owns. Its key
	// steps.json.gz in binaryData contains what would be done to each resource,
	// with the old and new values of the properties that change, and the outputs
	// that change, as gzipped JSON. Secrets are left out.
	// +optional
	ConfigMap string `json:"configMap,omitempty"`

	// Digest of the content of the key, as sha256:<checksum>.
	// +optional
	Digest string `json:"digest,omitempty"`
}
