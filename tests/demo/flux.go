// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"strings"
)

// showFlux shows a command of `flux pulumi` and what it prints.
func (d *demo) showFlux(ctx context.Context, args ...string) error {
	args = append(append([]string{"pulumi"}, args...), "-n", namespace)
	typed := "flux " + strings.Join(args, " ")
	stdout, stderr, exit, err := d.flux.Run(ctx, args...)
	if err != nil {
		return err
	}
	if exit != 0 {
		return fmt.Errorf("%s ended with exit code %d: %s", typed, exit, strings.TrimSpace(stderr))
	}
	lines := []string{"", "  $ " + typed}
	for line := range strings.Lines(stdout) {
		lines = append(lines, "  "+strings.TrimRight(line, "\n"))
	}
	d.screen.say("", lines...)
	return nil
}
