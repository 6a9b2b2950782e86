// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package drift

// FieldError is a fault of spec.drift.
type FieldError struct {
	// Field of the Stack that is wrong, for instance spec.drift.schedule.
	Field string
	// Problem with it.
	Problem string
}

// Error says which field is wrong and why.
func (e *FieldError) Error() string { return e.Field + ": " + e.Problem }
