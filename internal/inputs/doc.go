// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package inputs turns what the spec of a Stack asks for into the values that a
// run is given: environment, config and secret config, with the digest that
// tells whether they have changed and the masks that keep the secret ones out
// of texts. Only Resolve reads, from the API server and, where that is allowed, from
// the controller itself; everything else is pure.
//
// What a change leads to is not decided here, and nothing here knows how Pulumi
// takes the values.
package inputs
