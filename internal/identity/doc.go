// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package identity has the rules of cloud identity for a Stack: which annotations of its
// service account mean which identity, which tokens a run needs for it, and which files and
// variables the SDKs of the clouds, Pulumi's providers, backends and secrets providers read.
//
// The annotations are those that fluxcd/pkg/auth and the clouds' own webhooks know, so that one
// service account works for all of them. The package has no client, requests no token, and
// writes no file.
package identity
