// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package v1

// DefaultHistoryLimit is how many runs are recorded unless spec.history says
// otherwise.
const DefaultHistoryLimit = 20

// History controls the record of the runs of a Stack, which has more of them
// than status.history, and what each has changed and logged.
type History struct {
	// Limit is how many runs are recorded, the last ones. Consecutive runs with
	// the same inputs and result that change nothing count as one. If the record
	// becomes too large, the changes and logs of the oldest runs are dropped.
	// Defaults to 20.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	// +optional
	Limit *int32 `json:"limit,omitempty"`

	// Retain keeps the record when the Stack is deleted. A Stack of the same
	// name continues it. The controller never deletes a record that was
	// retained.
	// +optional
	Retain bool `json:"retain,omitempty"`
}

// GetHistoryLimit returns how many runs are recorded.
func (in *Stack) GetHistoryLimit() int {
	if h := in.Spec.History; h != nil && h.Limit != nil {
		return max(1, min(100, int(*h.Limit)))
	}
	return DefaultHistoryLimit
}

// RetainsHistory reports whether the record of the runs outlives the Stack.
func (in *Stack) RetainsHistory() bool { return in.Spec.History != nil && in.Spec.History.Retain }
