// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

//go:build !windows

package command

import "syscall"

// errNoData is that of a pipe which nobody reads.
const errNoData = syscall.EPIPE
