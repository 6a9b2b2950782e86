// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// startRestricted starts the process from a thread of its own that is restricted before, so that the
// process is too, and returns when that thread is gone. Until then the process is not more restricted
// than the thread, and could reach the memory of this process through it: see gate.
func startRestricted(cmd *exec.Cmd, restrict func() error) error {
	started := make(chan threadResult, 1)
	go onThread(func() error {
		if err := restrict(); err != nil {
			return err
		}
		return cmd.Start()
	}, started)
	result := <-started
	if result.thread != 0 {
		awaitThread(result.thread)
	}
	return result.err
}

type threadResult struct {
	// thread is the one that ends, 0 for none.
	thread int
	err    error
}

// onThread calls a function on a thread that ends after it. Go ends the thread of a goroutine that has
// locked it and ends, except for the first thread of the process, which waits forever: it keeps that
// one busy, so that the function is called on another. Go makes no thread from a locked one.
func onThread(do func() error, done chan<- threadResult) {
	runtime.LockOSThread()
	if thread := unix.Gettid(); thread != os.Getpid() {
		done <- threadResult{thread, do()}
		return
	}
	defer runtime.UnlockOSThread() // it is not restricted
	other := make(chan threadResult, 1)
	go onThread(do, other)
	done <- <-other
}

// awaitThread waits until a thread of this process is gone.
func awaitThread(thread int) {
	for wait := 10 * time.Microsecond; ; wait = min(2*wait, time.Millisecond) {
		if errors.Is(unix.Tgkill(os.Getpid(), thread, 0), unix.ESRCH) {
			return
		}
		time.Sleep(wait)
	}
}
