// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package run

// ServiceAccount names a service account.
type ServiceAccount struct {
	Namespace, Name string
}

// String returns the name that messages use.
func (a ServiceAccount) String() string { return a.Namespace + "/" + a.Name }

// ClusterAccess gives the program of a run the rights of a service account, until it is
// closed.
type ClusterAccess struct {
	// Tokens returns the tokens that the program was given and that may still be valid.
	// It may be called at any time.
	Tokens func() []string
	// Close stops the renewal of the token, and waits until it has stopped.
	Close func()
}

// CloudAccess gives the program of a run the tokens of a service account for clouds, until it is
// closed.
type CloudAccess struct {
	// Dir is the directory of the tokens.
	Dir string
	// Tokens returns the tokens that the program was given and that may still be valid.
	// It may be called at any time.
	Tokens func() []string
	// Close stops the renewal of the tokens, waits until it has stopped, and removes them.
	Close func()
}
