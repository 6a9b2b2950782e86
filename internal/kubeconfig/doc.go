// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package kubeconfig gives the program of a run the rights of a service account: a
// kubeconfig in a directory of the run, and a short-lived token that is renewed until the
// run ends. For the identity of the account in clouds, it keeps further tokens, each for an
// audience.
//
// The package does not know what a run is, where it takes place, what an audience means, or
// what follows from a failure.
package kubeconfig
