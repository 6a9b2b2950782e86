// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

//go:build !windows

package command

import "syscall"

// errNoData is the error of a pipe without a reader.
const errNoData = syscall.EPIPE
