// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package policytest tests a policy pack of a local directory with the program of another one. It runs the CLI of Pulumi of
// this machine, as the driver of runs works on Linux alone, and keeps nothing.
package policytest

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const (
	// grace is how long Pulumi may take to end after an interrupt.
	grace = 15 * time.Second
	// maxOutput bounds what is shown of the output of Pulumi, in bytes.
	maxOutput = 16 << 10
)

// Test is a policy pack, and the program that it is tested with.
type Test struct {
	// Pack is the directory of the pack.
	Pack string
	// PackConfig is the config of its policies, as for --policy-pack-config. Nil is none.
	PackConfig json.RawMessage
	// Program is the directory of the program, and Stack the name of the stack. Its config is read from the program's
	// Pulumi.<stack>.yaml.
	Program, Stack string
	// Config has more config, as KEY=VALUE.
	Config []string
}

// PreviewError is a preview that has failed for another reason than its policies, with the end of what Pulumi has printed.
type PreviewError struct {
	Output string
	reason string
}

func (e *PreviewError) Error() string { return e.reason }

// workspace is what a test needs of Pulumi, in a temporary directory: a backend with an empty stack, and its config.
type workspace struct {
	Test
	dir, pulumi string
	project     project
}

// Run previews the program with the pack on a stack without resources.
func (t Test) Run(ctx context.Context) (found Findings, err error) {
	w := workspace{Test: t}
	if w.pulumi, err = exec.LookPath("pulumi"); err != nil {
		return found, errors.New("pulumi is not on the PATH: install the CLI of Pulumi")
	}
	if w.project, err = readProject(t.Program); err != nil {
		return found, err
	}
	pack, err := packPath(t.Pack)
	if err != nil {
		return found, err
	}
	if w.dir, err = os.MkdirTemp("", "flux-pulumi-policy-"); err != nil {
		return found, fmt.Errorf("making a temporary directory: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(w.dir)) }()
	if err := w.write(); err != nil {
		return found, err
	}
	if err := w.run(ctx, w.dir, "stack", "init", "--no-select", "--stack", w.stack()); err != nil {
		return found, w.explain(ctx, err)
	}
	ended := w.run(ctx, t.Program, w.preview(pack)...)
	found, err = w.readEvents()
	switch {
	case err != nil:
		return found, err
	case found.Mandatory > 0:
		return found, nil
	case ended != nil:
		return found, w.explain(ctx, ended)
	case !found.loaded:
		return found, errors.New("no event of Pulumi says that it has loaded the pack: use a later version of pulumi")
	}
	return found, nil
}

func (w workspace) preview(pack string) []string {
	args := []string{"preview", "--stack", w.stack(), "--config-file", w.path(w.configFile()), "--event-log", w.path("events"), "--policy-pack=" + csvField(pack)}
	if len(w.PackConfig) > 0 {
		args = append(args, "--policy-pack-config="+csvField(w.path("policies.json")))
	}
	for _, setting := range w.Config {
		args = append(args, "--config", setting)
	}
	return args
}

// stack is the name of the stack in a backend of files.
func (w workspace) stack() string { return "organization/" + w.project.Name + "/" + w.Stack }

func (w workspace) configFile() string { return "Pulumi." + w.Stack + ".yaml" }

func (w workspace) path(name string) string { return filepath.Join(w.dir, name) }

// csvField quotes a value of a flag that may be a list, in which a comma separates values.
func csvField(value string) string { return `"` + strings.ReplaceAll(value, `"`, `""`) + `"` }

// write writes what Pulumi needs. The stack is created with a project of the same name: Pulumi writes to the directory of the
// project then.
func (w workspace) write() error {
	config, err := w.project.config(w.Program, w.Stack)
	if err != nil {
		return err
	}
	project, err := json.Marshal(map[string]string{"name": w.project.Name, "runtime": "yaml"})
	if err != nil {
		return fmt.Errorf("writing the project: %w", err)
	}
	passphrase := rand.Text()
	return errors.Join(
		os.Mkdir(w.path("state"), 0o700), os.WriteFile(w.path("Pulumi.yaml"), project, 0o600), os.WriteFile(w.path(w.configFile()), config, 0o600),
		os.WriteFile(w.path("policies.json"), w.PackConfig, 0o600), os.WriteFile(w.path("passphrase"), []byte(passphrase), 0o600),
	)
}

// run runs Pulumi with the variables of this process, but with the backend of the test.
func (w workspace) run(ctx context.Context, dir string, args ...string) error {
	output, err := os.Create(w.path("output"))
	if err != nil {
		return err
	}
	defer func() { _ = output.Close() }() // it is read if the command has failed
	cmd := exec.CommandContext(ctx, w.pulumi, append([]string{"--non-interactive", "--color=never"}, args...)...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, output, output
	cmd.Env = append(slices.DeleteFunc(cmd.Environ(), isOfAnotherStack),
		"PULUMI_BACKEND_URL="+fileURL(w.path("state")), "PULUMI_CONFIG_PASSPHRASE_FILE="+w.path("passphrase"),
		"PULUMI_SKIP_UPDATE_CHECK=true",
		"PULUMI_DEBUG_COMMANDS=true", // without it, there is no --event-log
	)
	cmd.Cancel, cmd.WaitDelay = func() error { return cmd.Process.Signal(os.Interrupt) }, grace
	return cmd.Run()
}

// isOfAnotherStack reports whether a variable is for the stack of the person, such as its passphrase.
func isOfAnotherStack(variable string) bool {
	name, _, _ := strings.Cut(variable, "=")
	return slices.Contains([]string{"PULUMI_CONFIG_PASSPHRASE", "PULUMI_STACK", "PULUMI_ACCESS_TOKEN"}, name)
}

// fileURL is the URL of a backend of files.
func fileURL(path string) string { return "file://" + filepath.ToSlash(path) }

// explain returns why Pulumi has failed.
func (w workspace) explain(ctx context.Context, ended error) error {
	if cause := context.Cause(ctx); cause != nil {
		return fmt.Errorf("previewing the program: %w", cause)
	}
	printed, err := w.printed()
	if err != nil {
		return errors.Join(fmt.Errorf("previewing the program: %w", ended), err)
	}
	return &PreviewError{Output: printed, reason: fmt.Sprintf("the preview of the program failed, so that its policies are not all checked: %v", ended)}
}

// printed returns the end of what Pulumi has printed.
func (w workspace) printed() (string, error) {
	output, err := os.Open(w.path("output"))
	if err != nil {
		return "", err
	}
	defer func() { _ = output.Close() }() // only read
	size, err := output.Seek(0, io.SeekEnd)
	if err != nil {
		return "", err
	}
	if _, err := output.Seek(max(0, size-maxOutput), io.SeekStart); err != nil {
		return "", err
	}
	text, err := io.ReadAll(output)
	return strings.TrimSpace(strings.ToValidUTF8(string(text), "")), err
}
