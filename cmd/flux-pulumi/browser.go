// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
)

// opener returns the program that opens a file as its user would, with its first arguments.
func opener(system string) []string {
	switch system {
	case "darwin":
		return []string{"open"}
	case "windows":
		return []string{"rundll32", "url.dll,FileProtocolHandler"}
	}
	return []string{"xdg-open"}
}

// browse opens a file in the browser. The browser stays when this program ends.
func browse(ctx context.Context, file string) error {
	line := opener(runtime.GOOS)
	// Without a display, xdg-open would start a browser in the terminal.
	if line[0] == "xdg-open" && os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "" {
		return errors.New("there is no display")
	}
	cmd := exec.CommandContext(context.WithoutCancel(ctx), line[0], append(line[1:], file)...)
	detach(cmd)
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("starting %s: %w", line[0], err)
	}
	go func() { _ = cmd.Wait() }() // whether it worked is seen
	return nil
}
