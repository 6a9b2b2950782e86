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

// endPatience is how long a command may take to end that a signal has asked for: longer
// than it tries to remove what it has put into the cluster. What still reads a file or
// a network that does not answer then has nothing left to lose.
const endPatience = 15 * time.Second

// ender has a command end at a signal, and the process after it: a shell goes on with a
// loop or a script unless the program has died of the Ctrl-C itself.
type ender struct {
	signals chan os.Signal
	got     atomic.Pointer[os.Signal]
}

// endAtSignals returns a context that ends with the first signal. Later ones are only
// taken away: what a command removes in the end is bounded, and no terminal that closes
// or second Ctrl-C is to cut it short. What the process was started to ignore it ignores,
// as nohup and a shell that puts it into the background have it.
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

// exit ends the process: as the signal does that has asked for it, or else with the code.
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
	os.Exit(128 + int(asked)) // as a shell tells of it
}
