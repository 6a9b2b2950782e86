// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package config has the manifests of this directory in the program that installs
// them, so that there is no copy of them that could be of another age.
package config

import "embed"

// Files are the manifests that default is built from, and the component for runs as
// Jobs.
//
//go:embed controller crd default manager rbac runner-jobs
var Files embed.FS
