// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"github.com/fluxcd/pkg/apis/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ProgramStatus says whether a Program can be run.
//
// The Pulumi operator writes an artifact here. It is left unchanged.
//
// +kubebuilder:pruning:PreserveUnknownFields
type ProgramStatus struct {
	meta.ReconcileRequestStatus `json:",inline"`

	// ObservedGeneration is the last generation that was checked.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// Conditions of the Program. Ready is True when the Program can be run, and
	// otherwise names its errors. Reconciling and Stalled are present only when
	// true.
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// Digest of the text of the Program, as in the revision of the Stacks that
	// run it.
	// +optional
	Digest string `json:"digest,omitempty"`
}

// GetConditions returns the conditions of the Program.
func (in *Program) GetConditions() []metav1.Condition { return in.Status.Conditions }

// SetConditions replaces the conditions of the Program.
func (in *Program) SetConditions(conditions []metav1.Condition) { in.Status.Conditions = conditions }
