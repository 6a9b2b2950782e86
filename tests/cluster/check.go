// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/flux-pulumi/pulumi-controller/tests/cluster/node"
)

// CannotError says in one line why this machine cannot have a node.
type CannotError struct{ Reason string }

func (e *CannotError) Error() string { return "this machine cannot run a Kubernetes node: " + e.Reason }

const (
	checkTimeout = time.Minute
	// removeTimeout is for what is removed after a check, also after an interrupted one.
	removeTimeout = 10 * time.Second
)

// Check finds out whether this machine can have a node: it creates all that a node needs,
// and starts a container in it. It returns a CannotError if the machine cannot.
func Check(ctx context.Context) error {
	spec, err := place(Options{})
	if err != nil {
		return err
	}
	_, err = check(ctx, spec)
	return err
}

// check also reports whether containers can have overlay layers.
func check(ctx context.Context, spec node.Spec) (overlay bool, err error) {
	if os.Geteuid() != 0 {
		return false, &CannotError{"only root can make namespaces, mounts and cgroups"}
	}
	if _, err := os.Stat(spec.Packages); err != nil {
		return false, fmt.Errorf("the packages of Debian are not there, which `make cluster-tools` unpacks: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	if spec.Dir, err = os.MkdirTemp(filepath.Dir(spec.Packages), "check-"); err != nil {
		return false, err
	}
	answer, err := try(ctx, spec)
	err = errors.Join(err, remove(spec.Dir))
	return strings.Contains(answer, node.ProbeOverlay), err
}

// checkedCgroup differs from the cgroup of a node with the same number.
func checkedCgroup(spec node.Spec) string { return spec.Cgroup() + "check" }

// try returns the output of the probe, or why it could not be set up.
func try(ctx context.Context, spec node.Spec) (answer string, err error) {
	cannot := func(err error) (string, error) {
		return "", &CannotError{strings.Trim(strings.Join(strings.Fields(err.Error()), " "), ": ")}
	}
	if err := plugCable(ctx, &spec); err != nil {
		return cannot(err)
	}
	// From here on the spec has a number, so the interface and the cgroup are ours to
	// remove.
	defer func() { err = errors.Join(err, pullCable(context.WithoutCancel(ctx), spec)) }()
	if err := os.Mkdir(spec.Path("tmp"), 0o755); err != nil {
		return "", err
	}
	if err := spec.Write(); err != nil {
		return "", err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), removeTimeout)
		defer cancel()
		err = errors.Join(err, poll(ctx, func() error { return removeCgroups(checkedCgroup(spec)) }))
	}()
	if err := makeCgroups(checkedCgroup(spec)); err != nil {
		return cannot(err)
	}
	command := exec.CommandContext(ctx, filepath.Join(spec.Bin, "cluster"), "probe", spec.Dir, checkedCgroup(spec))
	command.Dir, command.Env = spec.Dir, spec.Environment()
	command.SysProcAttr = namespaces()
	output, err := command.CombinedOutput()
	if err != nil {
		return cannot(fmt.Errorf("trying one in namespaces: %w: %s", err, output))
	}
	return string(output), nil
}
