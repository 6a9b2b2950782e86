// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// CancelMode selects how a run is cancelled.
// +kubebuilder:validation:Enum=Gently;Now
type CancelMode string

const (
	// CancelGently finishes the operations in flight, and starts no others.
	CancelGently CancelMode = "Gently"
	// CancelNow does not wait for the operations in flight.
	CancelNow CancelMode = "Now"
)

// CancelledRun is a run that a person has cancelled.
type CancelledRun struct {
	// ID of the run.
	// +required
	ID string `json:"id"`

	// Operation of the run.
	// +required
	Operation Operation `json:"operation"`

	// Generation of the Stack that was run.
	// +required
	Generation int64 `json:"generation"`

	// Digest of all inputs of the run.
	// +optional
	Digest string `json:"digest,omitempty"`

	// Message says what was cancelled, and what starts it again.
	// +optional
	Message string `json:"message,omitempty"`

	// EndedAt is when the run ended.
	// +optional
	EndedAt *metav1.Time `json:"endedAt,omitempty"`
}
