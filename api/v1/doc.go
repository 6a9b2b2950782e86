// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package v1 holds the pulumi.com/v1 API: the Stack and the Program.
//
// The comments of the types are user documentation: they become the text of the
// CRDs. Helpers that apply a default live beside the type. Nothing here may depend
// on controller-runtime or talk to an API server, so that other programs can import
// the types without a controller.
//
// +kubebuilder:object:generate=true
// +groupName=pulumi.com
package v1
