// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package command

import (
	"context"
	"fmt"
	"runtime"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

// newDebug says where the command is. It looks with the code of the controller, which
// is for Linux alone: it has the signals, the process groups and the files of that.
func newDebug(s *session) *cobra.Command {
	cmd := newStackCommand(s, "Show what a run of a Stack would get, and why one is due or not (on Linux only)",
		func(context.Context, client.WithWatch, *v1.Stack) error {
			return fmt.Errorf("debug is in the builds for Linux only, and this one is for %s: use one of those, in a container or in WSL", runtime.GOOS)
		})
	return newGroup("debug", "Show how the controller sees a Stack", cmd)
}
