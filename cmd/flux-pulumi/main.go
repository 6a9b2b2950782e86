// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Command flux-pulumi is the plugin of the flux command line for pulumi-controller.
//
// This file gives the commands the terminal, the clock and the environment of the
// process. It is the only place that reads them, and the only one that may exit.
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

// pollInterval is how often the flux command looks at what it waits for.
const pollInterval = 2 * time.Second

func main() {
	// Libraries must not write between the lines of the commands.
	ctrllog.SetLogger(logr.Discard())
	klog.SetLogger(logr.Discard())
	// A pipe that nobody reads is an error of a write, which ends a command as any other.
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
		PollInterval:  pollInterval,
	}, os.Args[1:])
	end.exit(code)
}

// width is how many columns the terminal of stderr has.
func width() int {
	columns, _, err := term.GetSize(int(os.Stderr.Fd()))
	if err != nil || columns < 1 {
		return 80
	}
	return columns
}
