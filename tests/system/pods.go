// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package system

import (
	"errors"
	"fmt"
	"os"
	"os/exec"

	"github.com/flux-pulumi/pulumi-controller/tests/process"
)

// likeAContainer are the arguments of unshare for a program that sees itself as
// process 1 of a host of its own: when it ends, the kernel ends all that it has
// started.
func likeAContainer(command ...string) []string {
	return append([]string{"--uts", "--pid", "--mount-proc", "--fork", "--kill-child"}, command...)
}

// CanIsolate tells why StartInPod is not possible here: it takes root.
func CanIsolate() error {
	if err := exec.Command("unshare", likeAContainer("true")...).Run(); err != nil {
		return fmt.Errorf("making namespaces: %w", err)
	}
	return nil
}

// StartInPod starts a controller as the container of a pod of that name would,
// with a data directory that outlives it. There is no kubelet: the Pod, and what
// its status tells, is the caller's. It is stopped with the system.
func (s *System) StartInPod(name string) (*process.Process, error) {
	s.changing.Lock()
	defer s.changing.Unlock()
	if err := installPlugins(s.Path(name)); err != nil && !errors.Is(err, os.ErrExist) {
		return nil, err
	}
	unshare, err := exec.LookPath("unshare")
	if err != nil {
		return nil, fmt.Errorf("starting a pod: %w", err)
	}
	by := append([]string{unshare}, likeAContainer("/bin/sh", "-c", `echo "$0" > /proc/sys/kernel/hostname && exec "$@"`, name)...)
	controller, _, err := s.startController(s.Path(name), s.Path(name+".log"), by)
	if controller != nil {
		s.others = append(s.others, controller)
	}
	return controller, err
}
