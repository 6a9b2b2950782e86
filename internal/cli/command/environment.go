// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package command has the commands of flux-pulumi, one per file. A command reaches the
// outside world only through its Environment, so that tests can pass their own clock and
// files, and it never exits the process.
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

// Environment is a command's access to the outside world.
type Environment struct {
	// In is read for a file named -.
	In io.Reader
	// Out gets the result, and Err the messages on the way.
	Out, Err io.Writer
	// Now is the clock.
	Now func() time.Time
	// OutIsTerminal allows colours on Out.
	OutIsTerminal bool
	// ErrIsTerminal allows drawing progress on Err.
	ErrIsTerminal bool
	// Width returns the columns of the terminal.
	Width func() int
	// Getenv reads the environment of the process.
	Getenv func(string) string
	// Version of this program.
	Version string
	// Browse opens a file in the browser of the person, nil if there is none.
	Browse func(ctx context.Context, file string) error
	// PollInterval is the time between two polls of an awaited object.
	PollInterval time.Duration
}

// session is shared by the commands of one invocation.
type session struct {
	Environment
	*console.Console
	paint   console.Paint
	flags   *genericclioptions.ConfigFlags
	timeout time.Duration
	follow  bool // --ns-follows-kube-context
}

// connect returns a client for the cluster.
func (s *session) connect(ctx context.Context) (client.WithWatch, error) {
	return cluster.Connect(ctx, s.flags)
}

// namespace returns the value of --namespace.
func (s *session) namespace() string { return *s.flags.Namespace }

// limited returns the context of a command that must end within --timeout.
func (s *session) limited(cmd *cobra.Command) (context.Context, context.CancelFunc) {
	return s.limitedUnless(cmd, false)
}

// limitedUnless is like limited, but without the timeout for a command that follows until
// it is interrupted.
func (s *session) limitedUnless(cmd *cobra.Command, follows bool) (context.Context, context.CancelFunc) {
	if follows {
		return context.WithCancel(cmd.Context())
	}
	return context.WithTimeout(cmd.Context(), s.timeout)
}
