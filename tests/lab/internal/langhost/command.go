// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package langhost

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"time"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
)

// loggedError is the exit code of a program that has reported its error to the engine itself, in each of Pulumi's SDKs.
const loggedError = 32

// grace is how long a program that is interrupted may take to end.
const grace = 5 * time.Second

// command is one that is interrupted when ctx ends, and killed if it does not end then.
func command(ctx context.Context, dir, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = grace
	return cmd
}

// Output is what a tool prints. Its error has what the tool printed about it.
func Output(ctx context.Context, dir, name string, args ...string) (string, error) {
	out, err := command(ctx, dir, name, args...).Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return "", fmt.Errorf("%w: %s", err, exit.Stderr)
	}
	return string(out), err
}

// Tool runs a tool that prints to the writers.
func Tool(ctx context.Context, stdout, stderr io.Writer, dir, name string, args ...string) error {
	cmd := command(ctx, dir, name, args...)
	cmd.Stdout, cmd.Stderr = stdout, stderr
	return cmd.Run()
}

// Program runs a program to its end, with the variables added to the environment. What it prints goes to the engine.
func (h *Host) Program(call context.Context, dir string, env []string, name string, args ...string) *pulumirpc.RunResponse {
	ctx, cancel := h.untilCancelled(call)
	defer cancel()
	cmd := command(ctx, dir, name, args...)
	cmd.Env = append(os.Environ(), env...)
	// Not the files themselves: Node.js makes them non-blocking, for this process too.
	cmd.Stdout, cmd.Stderr = struct{ io.Writer }{os.Stdout}, struct{ io.Writer }{os.Stderr}
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return &pulumirpc.RunResponse{}
	case !errors.As(err, &exit):
		return &pulumirpc.RunResponse{Error: fmt.Sprintf("starting the program: %v", err)}
	case exit.ExitCode() == loggedError:
		return &pulumirpc.RunResponse{Bail: true}
	}
	// The controller knows how a program has ended from this text of Pulumi's hosts.
	return &pulumirpc.RunResponse{Error: fmt.Sprintf("Program exited with non-zero exit code: %d", exit.ExitCode())}
}

// ConfigEnv has the configuration of the stack, in the variables that Pulumi's SDKs read.
func ConfigEnv(req *pulumirpc.RunRequest) ([]string, error) {
	values := map[string]string{} // an object for the SDKs, also if there are none
	maps.Copy(values, req.GetConfig())
	config, err := json.Marshal(values)
	if err != nil {
		return nil, fmt.Errorf("encoding the configuration: %w", err)
	}
	secret, err := json.Marshal(req.GetConfigSecretKeys())
	if err != nil {
		return nil, fmt.Errorf("encoding the names of secrets: %w", err)
	}
	return []string{"PULUMI_CONFIG=" + string(config), "PULUMI_CONFIG_SECRET_KEYS=" + string(secret)}, nil
}
