// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Command cluster is the Kubernetes node of tests/cluster as a command, and the program
// that the node runs inside.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/flux-pulumi/pulumi-controller/tests/cluster"
	"github.com/flux-pulumi/pulumi-controller/tests/cluster/node"
)

// exitCannot is the exit code for a machine that cannot have a node, as opposed to a
// failure.
const exitCannot = 3

const usage = `usage: cluster up      start a node on this machine, as root
       cluster down    end it, and remove all that was of it
       cluster load FILE...   bring the images of archives to it
       cluster check   tell whether this machine can have one (status 3 if it cannot)`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	code, err := run(ctx, os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		if code = max(code, 1); errors.As(err, new(*cluster.CannotError)) {
			code = exitCannot
		}
	}
	os.Exit(code)
}

func run(ctx context.Context, args []string) (int, error) {
	verb := ""
	if len(args) > 0 {
		verb = args[0]
	}
	switch {
	case verb == "up" && len(args) == 1:
		return 0, up(ctx)
	case verb == "down" && len(args) == 1:
		dir, err := cluster.DefaultDir()
		if err != nil {
			return 1, err
		}
		return 0, cluster.Down(ctx, dir)
	case verb == "load" && len(args) > 1:
		return 0, load(ctx, args[1:])
	case verb == "check" && len(args) == 1:
		return 0, cluster.Check(ctx)
	// The inside of the node: its first process, the node, and the probe.
	case verb == "init" && len(args) == 2:
		spec, err := node.Read(args[1])
		if err != nil {
			return 1, err
		}
		return node.Init(spec.Tied, []string{"node", args[1]})
	case verb == "node" && len(args) == 2:
		return 0, node.Run(ctx, args[1])
	case verb == "probe" && len(args) == 3:
		return 0, node.Probe(ctx, args[1], args[2], os.Stdout)
	}
	return 2, errors.New(usage)
}

func up(ctx context.Context) error {
	started, err := cluster.Up(ctx, cluster.Options{Detached: true})
	if errors.Is(err, cluster.ErrUp) {
		return fmt.Errorf("%w; `make cluster-down` ends it", err)
	}
	if err != nil {
		return err
	}
	fmt.Printf("The node is ready. Its logs are in %s, and pods reach this machine at %s.\n\n  export KUBECONFIG=%s\n\n`make cluster-down` ends it.\n",
		started.Dir(), started.HostAddress(), started.Kubeconfig())
	return nil
}

func load(ctx context.Context, archives []string) error {
	dir, err := cluster.DefaultDir()
	if err != nil {
		return err
	}
	found, err := cluster.Open(dir)
	if err != nil {
		return err
	}
	for _, archive := range archives {
		if err := found.LoadImage(ctx, archive); err != nil {
			return err
		}
	}
	return nil
}
