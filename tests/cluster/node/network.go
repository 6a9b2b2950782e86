// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"time"
)

// NodeInterface is the node's end of the link to the machine.
const NodeInterface = "eth0"

// joinNetwork gives the node its address as soon as the machine has moved the link into
// it.
func joinNetwork(ctx context.Context, spec Spec) error {
	if err := ip(ctx, spec, "link", "set", "lo", "up"); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		if _, err := net.InterfaceByName(NodeInterface); err == nil {
			break
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for the interface %s: %w", NodeInterface, ctx.Err())
		case <-tick.C:
		}
	}
	for _, args := range [][]string{
		{"address", "add", spec.NodeAddress() + "/30", "dev", NodeInterface},
		{"link", "set", NodeInterface, "up"},
		{"route", "add", "default", "via", spec.HostAddress()},
	} {
		if err := ip(ctx, spec, args...); err != nil {
			return err
		}
	}
	// The setting belongs to the network namespace.
	return os.WriteFile("/proc/sys/net/ipv4/ip_forward", []byte("1"), 0o644)
}

func ip(ctx context.Context, spec Spec, args ...string) error {
	return spec.Command(ctx, "ip", args...)
}

// Command runs a program of the node. Its error has the output.
func (s Spec) Command(ctx context.Context, name string, args ...string) error {
	path, err := s.lookPath(name)
	if err != nil {
		return err
	}
	command := exec.CommandContext(ctx, path, args...)
	command.Env = s.Environment()
	if output, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("%s %v: %w: %s", name, args, err, output)
	}
	return nil
}
