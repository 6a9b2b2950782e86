// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// OutputsSecret names the Secret that the outputs of a stack are written to.
type OutputsSecret struct {
	// Name of the Secret, in the namespace of the Stack. The controller creates
	// it. The Stack owns it, and it is deleted with the Stack, or when another
	// name or none is given. An existing Secret that the Stack does not own is
	// never overwritten: the Stack reports it, and continues when that Secret
	// is removed. It must not be a Secret that the Stack itself takes values
	// from, or one with the credentials of its repository.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern="^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$"
	// +required
	Name string `json:"name"`

	// Keys are the outputs to write, each under its own name. An output that
	// the stack does not have, or whose name is not a valid Secret key
	// (letters, digits, "-", "_" and "."), is an error. Defaults to all.
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=253
	// +kubebuilder:validation:items:XValidation:rule="self.matches('^([-_a-zA-Z0-9]|[.][-_a-zA-Z0-9])[-._a-zA-Z0-9]*$')",message="cannot be a key of a Secret, which has letters, digits, hyphens, underscores and periods: rename the output"
	// +listType=atomic
	// +optional
	Keys []string `json:"keys,omitempty"`

	// Labels of the Secret. Other labels are removed at the next write.
	// +kubebuilder:validation:MaxProperties=64
	// +kubebuilder:validation:XValidation:rule="self.all(key, dyn(self[key]) != null)",message="has an entry that is null: give it a value, or remove it",messageExpression="'has an entry that is null, ' + self.filter(key, dyn(self[key]) == null)[0] + ': give it a value, or remove it'"
	// +optional
	Labels map[string]string `json:"labels,omitempty"`

	// Annotations of the Secret. Other annotations are removed at the next
	// write.
	// +kubebuilder:validation:MaxProperties=64
	// +kubebuilder:validation:XValidation:rule="self.all(key, dyn(self[key]) != null)",message="has an entry that is null: give it a value, or remove it",messageExpression="'has an entry that is null, ' + self.filter(key, dyn(self[key]) == null)[0] + ': give it a value, or remove it'"
	// +optional
	Annotations map[string]string `json:"annotations,omitempty"`
}

// OutputsSecretStatus describes the Secret that the outputs are written to.
type OutputsSecretStatus struct {
	// Name of the Secret. It is deleted when the spec no longer names it.
	// +required
	Name string `json:"name"`

	// Digest of what was last written to the Secret. Values cannot be guessed
	// from it, because its key is the UID of the Secret. Empty while the
	// outputs of the last update are not written.
	// +optional
	Digest string `json:"digest,omitempty"`

	// Failure is why the outputs could not be read or written.
	// +optional
	Failure *OutputsFailure `json:"failure,omitempty"`
}

// OutputsFailure is why outputs could not be read or written.
type OutputsFailure struct {
	// Message says what to do.
	// +required
	Message string `json:"message"`

	// Generation of the Stack that the failure is about. Another generation is
	// tried at once.
	// +required
	Generation int64 `json:"generation"`

	// RetryAt is when the controller retries. It is absent if only another
	// spec, or another update, can help.
	// +optional
	RetryAt *metav1.Time `json:"retryAt,omitempty"`

	// Failures counts the readings of this generation that have failed one after
	// another. A reading that could not begin is retried after 10 seconds, backing
	// off up to the retry interval.
	// +optional
	Failures int64 `json:"failures,omitempty"`

	// Secret identifies the Secret that could not be written: a hash of its
	// UID, or empty if there was none. Another Secret, for example after this
	// one was deleted, is tried at once. It is absent if the failure is not
	// about the Secret.
	// +optional
	Secret *string `json:"secret,omitempty"`
}
