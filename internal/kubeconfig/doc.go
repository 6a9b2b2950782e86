// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package kubeconfig gives the program of a run the rights of a service account:
// a kubeconfig in a directory of the run, and a token that expires soon and is
// renewed for as long as the run goes on.
//
// What a run is, where it is done and what a failure leads to is not known here.
package kubeconfig
