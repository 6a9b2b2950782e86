// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// CancelMode is how a run is cancelled.
// +kubebuilder:validation:Enum=Gently;Now
type CancelMode string

const (
	// CancelGently finishes what is in flight, and begins nothing else.
	CancelGently CancelMode = "Gently"
	// CancelNow does not wait for what is in flight.
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

	// Message tells what was cancelled, and what begins it again.
	// +optional
	Message string `json:"message,omitempty"`

	// EndedAt is when the run ended.
	// +optional
	EndedAt *metav1.Time `json:"endedAt,omitempty"`
}
