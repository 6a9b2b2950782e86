// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package inputs turns the spec of a Stack into the values of a run: environment, config
// and secret config, the digest that tells whether they changed, and the masks that keep
// secrets out of texts. Only Resolve and Values read, from the API server and, if
// allowed, from the controller itself. Everything else is pure.
//
// The package does not decide what follows from a change, and does not know how Pulumi
// receives the values.
package inputs
