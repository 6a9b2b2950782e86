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

// die has the process die of the signal. It returns where it cannot: the first process
// of a container does not.
func die(asked syscall.Signal) {
	if os.Getpid() == 1 {
		return
	}
	signal.Reset(asked)
	if syscall.Kill(os.Getpid(), asked) == nil {
		time.Sleep(time.Second) // it comes at once
	}
}
