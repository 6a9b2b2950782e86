// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// Init is the first process of the node's namespaces. When it ends, so does the node: the
// kernel kills the rest of the PID namespace, which frees the mounts and the network. It
// starts this program again with the arguments, and reaps its orphans and those of the
// containers. It returns the exit status of the program.
//
// With tied, it ends when its standard input does, that is, when nobody holds the other
// end any more.
func Init(tied bool, args []string) (int, error) {
	if tied {
		go func() {
			_, _ = io.Copy(io.Discard, os.Stdin)
			os.Exit(1)
		}()
	}
	self, err := os.Executable()
	if err != nil {
		return 1, err
	}
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	// os/exec would wait for its child itself, and so compete with the loop below.
	child, err := syscall.ForkExec(self, append([]string{self}, args...), &syscall.ProcAttr{
		Env: os.Environ(), Files: []uintptr{1, 1, 2},
	})
	if err != nil {
		return 1, fmt.Errorf("starting the node: %w", err)
	}
	go func() {
		for received := range signals {
			_ = syscall.Kill(child, received.(syscall.Signal)) // it may have ended
		}
	}()
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			return 1, fmt.Errorf("waiting for the node: %w", err)
		case pid == child && (status.Exited() || status.Signaled()):
			return max(status.ExitStatus(), 0), nil
		}
	}
}
