// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package system

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/flux-pulumi/pulumi-controller/tests/process"
)

// FluxCLI is the real flux command with the plugin in its folder.
type FluxCLI struct {
	// Program is flux, Plugins its folder of plugins.
	Program, Plugins string

	environment []string
}

// NewFluxCLI puts the plugin into a folder below dir, which is also the home of the user.
// The environment is all that the command gets beside that and the kubeconfig.
func NewFluxCLI(dir, kubeconfig string, environment ...string) (*FluxCLI, error) {
	flux, err := process.FindBin("flux")
	if err != nil {
		return nil, err
	}
	plugin, err := process.FindBin("flux-pulumi")
	if err != nil {
		return nil, err
	}
	plugins := filepath.Join(dir, "plugins")
	if err := os.MkdirAll(plugins, 0o755); err != nil {
		return nil, fmt.Errorf("making the folder of plugins: %w", err)
	}
	if err := os.Symlink(plugin, filepath.Join(plugins, "flux-pulumi")); err != nil {
		return nil, fmt.Errorf("installing the plugin: %w", err)
	}
	return &FluxCLI{Program: flux, Plugins: plugins, environment: append([]string{
		"HOME=" + dir, "KUBECONFIG=" + kubeconfig, "FLUXCD_PLUGINS=" + plugins,
	}, environment...)}, nil
}

// Command is flux with the arguments, yet to be run.
func (f *FluxCLI) Command(ctx context.Context, args ...string) *exec.Cmd {
	command := exec.CommandContext(ctx, f.Program, args...)
	command.Env = append([]string{}, f.environment...)
	return command
}

// Run returns what flux prints on stdout and on stderr, and its exit code. An error says
// that it could not be run.
func (f *FluxCLI) Run(ctx context.Context, args ...string) (stdout, stderr string, exit int, err error) {
	var out, errs bytes.Buffer
	command := f.Command(ctx, args...)
	command.Stdout, command.Stderr = &out, &errs
	err = command.Run()
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) {
		return "", "", -1, fmt.Errorf("running flux: %w", err)
	}
	return out.String(), errs.String(), command.ProcessState.ExitCode(), nil
}
