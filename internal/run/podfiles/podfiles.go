// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package podfiles judges by the spec of a pod which of its files are deleted with it.
package podfiles

import (
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// StateDir is the directory of the state in a backend of files.
const StateDir = ".pulumi"

// MountOf returns the mount that contains a path, the innermost if there are several, nil
// if there is none.
func MountOf(mounts []corev1.VolumeMount, file string) *corev1.VolumeMount {
	var nearest *corev1.VolumeMount
	for i, mount := range mounts {
		if Within(file, mount.MountPath) && (nearest == nil || Within(mount.MountPath, nearest.MountPath)) {
			nearest = &mounts[i]
		}
	}
	return nearest
}

// Last reports whether files in a volume may still be there when the pod is gone.
func Last(volumes []corev1.Volume, name string) bool {
	i := slices.IndexFunc(volumes, func(v corev1.Volume) bool { return v.Name == name })
	if i < 0 {
		return false
	}
	v := volumes[i]
	return v.EmptyDir == nil && v.Ephemeral == nil && v.ConfigMap == nil && v.Secret == nil && v.DownwardAPI == nil && v.Projected == nil && v.Image == nil
}

// Within reports whether a path is the directory or below it. Kubernetes accepts paths
// that are not clean, or do not begin with a slash.
func Within(one, dir string) bool {
	one, dir = path.Clean("/"+one), path.Clean("/"+dir)
	return one == dir || strings.HasPrefix(one, strings.TrimSuffix(dir, "/")+"/")
}
