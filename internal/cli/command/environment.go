// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package command has the commands of flux-pulumi, one in each file. A command gets
// what it knows of the world from its Environment, so that it is tested with a clock
// and files of the test, and it never ends the process.
package command

import (
	"context"
	"io"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/flux-pulumi/pulumi-controller/internal/cli/cluster"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/console"
)

// Environment is the world around a command.
type Environment struct {
	// In is read where a command is given a file named -.
	In io.Reader
	// Out gets what was asked for, and Err what is told on the way.
	Out, Err io.Writer
	// Now is the clock.
	Now func() time.Time
	// OutIsTerminal says that Out may be coloured.
	OutIsTerminal bool
	// ErrIsTerminal says that progress may be drawn to Err.
	ErrIsTerminal bool
	// Width is how many columns the terminal has.
	Width func() int
	// Getenv reads the environment of the process.
	Getenv func(string) string
	// Version of this program.
	Version string
	// PollInterval is how often is looked at what is waited for.
	PollInterval time.Duration
}

// session is what the commands of one call share.
type session struct {
	Environment
	*console.Console
	paint   console.Paint
	flags   *genericclioptions.ConfigFlags
	timeout time.Duration
	follow  bool // --ns-follows-kube-context
}

// connect returns a client of the cluster.
func (s *session) connect(ctx context.Context) (client.WithWatch, error) {
	return cluster.Connect(ctx, s.flags)
}

// namespace is the one of --namespace.
func (s *session) namespace() string { return *s.flags.Namespace }

// limited is the context of a command that has to end within --timeout.
func (s *session) limited(cmd *cobra.Command) (context.Context, context.CancelFunc) {
	return s.limitedUnless(cmd, false)
}

// limitedUnless is the same for one that may go on until it is interrupted.
func (s *session) limitedUnless(cmd *cobra.Command, follows bool) (context.Context, context.CancelFunc) {
	if follows {
		return context.WithCancel(cmd.Context())
	}
	return context.WithTimeout(cmd.Context(), s.timeout)
}
