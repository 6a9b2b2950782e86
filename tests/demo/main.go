// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Command demo shows the controller at work on this machine: a real API server,
// the real source-controller, Pulumi and this controller as processes on the
// loopback address, and a git server. It applies examples/quickstart, says what
// happens, shows the Stacks by `flux pulumi`, and checks what is made. It is no
// test of details: those are beside the code and in tests/e2e.
//
// It stays in the foreground. With KEEP=1 it leaves everything running after
// the last step, until Ctrl-C. However it ends, it leaves no process and no file.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

func main() {
	var err error
	if len(os.Args) == 3 && os.Args[1] == guardCommand {
		err = keepGuard(os.Args[2])
	} else {
		err = show(os.Getenv("KEEP") == "1")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

// show runs the demo until it ends or a signal ends it.
func show(keep bool) error {
	if err := endWithParent(); err != nil {
		return err
	}
	// The signals stay caught to the end: a second Ctrl-C must not cut the
	// cleaning short. SIGPIPE comes when the reader of the output is gone.
	signals := []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGPIPE}
	if !signal.Ignored(syscall.SIGHUP) { // nohup stays nohup
		signals = append(signals, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), signals...)
	defer stop()
	return run(ctx, os.Stdout, keep)
}

// endWithParent makes the kernel send SIGTERM when the parent of this program ends:
// `make` and `go run` do not forward a SIGTERM.
func endWithParent() error {
	// The setting belongs to the thread, so the thread must last.
	runtime.LockOSThread()
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(syscall.SIGTERM), 0, 0, 0); err != nil {
		return fmt.Errorf("asking for a signal at the end of the parent: %w", err)
	}
	return nil
}
