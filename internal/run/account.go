// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package run

// ServiceAccount names a service account of the cluster.
type ServiceAccount struct {
	Namespace, Name string
}

// String is the account as messages name it.
func (a ServiceAccount) String() string { return a.Namespace + "/" + a.Name }

// ClusterAccess is what the program of a run has of a service account, until it
// is closed.
type ClusterAccess struct {
	// Kubeconfig is the path of the kubeconfig.
	Kubeconfig string
	// Tokens returns the tokens that the program has been given and that may still
	// be valid. It may be called at any time.
	Tokens func() []string
	// Close ends the renewal of the token, and returns when it has ended.
	Close func()
}
