// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"errors"
	"net/url"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"

	"github.com/flux-pulumi/pulumi-controller/internal/run/podfiles"
)

// managerContainer is that of the controller in config/manager.
const managerContainer = "manager"

// ownContainer returns the container of this process in its pod, nil if it is unknown.
func ownContainer(pod *corev1.Pod) *corev1.Container {
	for i, container := range pod.Spec.Containers {
		if container.Name == managerContainer || len(pod.Spec.Containers) == 1 {
			return &pod.Spec.Containers[i]
		}
	}
	return nil
}

// backendCheck returns a check of the backends of local runs, nil if this process is in no
// pod. It refuses a directory that is deleted with the pod, as each update of the
// Deployment does: the next run would find no state.
func backendCheck(pod *corev1.Pod) func(backend string) error {
	own := ownContainer(pod)
	if own == nil {
		return nil
	}
	lasts := func(dir string) bool {
		mount := podfiles.MountOf(own.VolumeMounts, filepath.Join(dir, podfiles.StateDir))
		return mount != nil && podfiles.Last(pod.Spec.Volumes, mount.Name)
	}
	return func(backend string) error {
		location, err := url.Parse(backend)
		// Files are only looked at if the path itself is on no volume that stays: to look at
		// those of a server that does not respond would block.
		if err != nil || location.Scheme != "file" || lasts(location.Path) || lasts(resolved(location.Path)) {
			return nil
		}
		return errors.New("the backend is a directory that is deleted with the pod of the controller, such as one on an emptyDir: " +
			"use an object store or Pulumi Cloud, or mount a persistent volume there in the Deployment of the controller")
	}
}

// resolved returns the path without symbolic links, as far as it exists.
func resolved(path string) string {
	if target, err := filepath.EvalSymlinks(path); err == nil || path == filepath.Dir(path) {
		return target
	}
	return filepath.Join(resolved(filepath.Dir(path)), filepath.Base(path))
}
