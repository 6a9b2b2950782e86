// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package inputs

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
)

// InvalidError is a spec that contradicts itself or asks for something impossible. Only
// editing the spec helps.
type InvalidError struct {
	// Field of the Stack that is wrong, for instance spec.envRefs.HOME.
	Field string
	// Problem with it, and what to do about it.
	Problem string
}

// Error says which field is wrong and why.
func (e *InvalidError) Error() string { return e.Field + ": " + e.Problem }

// UnusableError is a value that no run can be given. The fault may well be in a Secret
// rather than in the spec.
type UnusableError struct {
	// Field of the Stack that asks for the value.
	Field string
	// Problem with it, without the value.
	Problem string
}

// Error says which field is wrong and why.
func (e *UnusableError) Error() string { return e.Field + ": " + e.Problem }

// MissingError is a Secret, a ConfigMap or a key of one that does not exist.
type MissingError struct {
	// Field of the Stack that asks for it.
	Field string
	// Kind of the object: Secret or ConfigMap.
	Kind string
	// Object that is asked for.
	Object types.NamespacedName
	// Key that the object lacks, or "" if the object itself does not exist.
	Key string
}

// Error says what is missing, without the object's other keys and its values.
func (e *MissingError) Error() string {
	if e.Key == "" {
		return fmt.Sprintf("%s: %s '%s' not found", e.Field, e.Kind, e.Object)
	}
	return fmt.Sprintf("%s: %s '%s' has no key %q", e.Field, e.Kind, e.Object, e.Key)
}

// ReadError is a value that could not be read, or that the Stack may not have read.
type ReadError struct {
	// Field of the Stack that asks for the value.
	Field string
	// Err is of the API server, or an acl.AccessDeniedError.
	Err error
}

// Error says which field asks for the value, and why it could not be read.
func (e *ReadError) Error() string { return e.Field + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *ReadError) Unwrap() error { return e.Err }

// FieldOf returns the field of the Stack that an error of Resolve is about, "" if none.
func FieldOf(err error) string {
	var (
		invalid  *InvalidError
		unusable *UnusableError
		missing  *MissingError
		unread   *ReadError
	)
	switch {
	case errors.As(err, &invalid):
		return invalid.Field
	case errors.As(err, &unusable):
		return unusable.Field
	case errors.As(err, &missing):
		return missing.Field
	case errors.As(err, &unread):
		return unread.Field
	}
	return ""
}

const (
	secretKind    = "Secret"
	configMapKind = "ConfigMap"
)
