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

// likeAContainer returns the arguments of unshare for a program that is process 1 of a
// host of its own: when it ends, the kernel kills all its descendants.
func likeAContainer(command ...string) []string {
	return append([]string{"--uts", "--pid", "--mount-proc", "--fork", "--kill-child"}, command...)
}

// CanIsolate says why StartInPod is not possible here: it needs root.
func CanIsolate() error {
	if err := exec.Command("unshare", likeAContainer("true")...).Run(); err != nil {
		return fmt.Errorf("making namespaces: %w", err)
	}
	return nil
}

// StartInPod starts a controller like the container of a pod of that name, with a data
// directory that outlives it. There is no kubelet: the caller maintains the Pod and its
// status. It is stopped with the system.
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
