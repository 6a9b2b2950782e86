// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

//go:build !windows

package main

import (
	"os"
	"os/signal"
	"syscall"
	"time"
)

// die kills the process with the signal. It returns if that is not possible, as for the
// first process of a container.
func die(asked syscall.Signal) {
	if os.Getpid() == 1 {
		return
	}
	signal.Reset(asked)
	if syscall.Kill(os.Getpid(), asked) == nil {
		time.Sleep(time.Second) // the signal arrives at once
	}
}
