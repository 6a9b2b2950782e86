// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"
)

// endPatience is how long a command may take to end after a signal: longer than it tries
// to remove what it has created in the cluster. A command that still waits for a file or
// the network then has nothing to lose.
const endPatience = 15 * time.Second

// ender ends a command at a signal, and then has the process die of that signal: a shell
// breaks off a loop or a script only if the program has died of Ctrl-C.
type ender struct {
	signals chan os.Signal
	got     atomic.Pointer[os.Signal]
}

// endAtSignals returns a context that ends with the first signal. Later signals are
// swallowed: the cleanup of a command is bounded, and neither a closing terminal nor a
// second Ctrl-C must cut it short. A signal that the process was started to ignore, as by
// nohup or in the background of a shell, stays ignored.
func endAtSignals(parent context.Context) (context.Context, *ender) {
	ctx, cancel := context.WithCancel(parent)
	e := &ender{signals: make(chan os.Signal, 1)}
	for _, one := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(one) {
			signal.Notify(e.signals, one)
		}
	}
	go func() {
		got := <-e.signals
		e.got.Store(&got)
		cancel()
		time.Sleep(endPatience)
		e.exit(0)
	}()
	return ctx, e
}

// exit ends the process by the signal that was received, or else with the code.
func (e *ender) exit(code int) {
	got := e.got.Load()
	if got == nil {
		os.Exit(code)
	}
	signal.Stop(e.signals)
	asked, ok := (*got).(syscall.Signal)
	if !ok {
		os.Exit(1)
	}
	die(asked)
	os.Exit(128 + int(asked)) // the exit code of a shell for a signal
}
