// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package v1 holds the pulumi.com/v1 API: the Stack and the Program.
//
// The types are the user's documentation: their comments become the text of
// the CRDs. Helpers that state a default live beside the type. Nothing here may
// depend on controller-runtime or talk to an API server, so that other
// programs can use the types without taking a controller along.
//
// +kubebuilder:object:generate=true
// +groupName=pulumi.com
package v1
