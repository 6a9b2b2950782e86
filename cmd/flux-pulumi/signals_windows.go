// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package main

import "syscall"

// die does nothing: a process cannot die of a signal on Windows, so the exit code has to
// do.
func die(syscall.Signal) {}
