// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Command flux-pulumi is the plugin of the flux command line for pulumi-controller.
//
// This file passes the terminal, the clock and the environment of the process to the
// commands. It is the only place that reads them, and the only one that may exit.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	"golang.org/x/term"
	"k8s.io/klog/v2"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/flux-pulumi/pulumi-controller/internal/cli/command"
)

// version is set by the linker.
var version = "0.0.0-dev.0"

// pollInterval is how often flux polls what it waits for.
const pollInterval = 2 * time.Second

func main() {
	// Logs of libraries must not end up between the lines of the commands.
	ctrllog.SetLogger(logr.Discard())
	klog.SetLogger(logr.Discard())
	// A broken pipe becomes a write error, which ends a command like any other.
	signal.Ignore(syscall.SIGPIPE)
	ctx, end := endAtSignals(context.Background())
	code := command.Run(ctx, command.Environment{
		In:            os.Stdin,
		Out:           os.Stdout,
		Err:           os.Stderr,
		Now:           time.Now,
		OutIsTerminal: term.IsTerminal(int(os.Stdout.Fd())),
		ErrIsTerminal: term.IsTerminal(int(os.Stderr.Fd())),
		Width:         width,
		Getenv:        os.Getenv,
		Version:       version,
		Browse:        browse,
		PollInterval:  pollInterval,
	}, os.Args[1:])
	end.exit(code)
}

// width returns the number of columns of the terminal on stderr.
func width() int {
	columns, _, err := term.GetSize(int(os.Stderr.Fd()))
	if err != nil || columns < 1 {
		return 80
	}
	return columns
}
