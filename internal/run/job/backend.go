// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package job

import (
	"fmt"
	"net/url"
	"path"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// checkBackend refuses a backend in the file system of the pod, which is deleted with the
// pod: the next run would find no state, and create everything a second time. A persistent
// volume of the template is fine. An inline CSI volume is not: Kubernetes has drivers create
// it with the pod and delete it with the pod, and nothing shows which of them keep the files.
func checkBackend(backend string, pod corev1.PodTemplateSpec) error {
	location, err := url.Parse(backend)
	if err != nil || location.Scheme != "file" {
		return nil // the driver reports invalid backends
	}
	main := containerOf(pod.Spec.Containers, mainContainer)
	mount := mountOf(main.VolumeMounts, path.Join(location.Path, stateDir))
	if mount != nil && mount.SubPathExpr == "" && lasts(pod.Spec.Volumes, mount.Name) && !isInlineCSI(pod.Spec.Volumes, mount.Name) {
		return nil
	}
	return fmt.Errorf("the backend is a directory of the pod that the program runs in (%s), and is gone with it: use an object store or Pulumi Cloud, "+
		"or mount a volume that stays at that path, with spec.workspaceTemplate.spec.podTemplate", location.Path)
}

// stateDir is the directory of the state in a backend.
const stateDir = ".pulumi"

// mountOf returns the mount that contains a path, the innermost if there are several, nil
// if there is none.
func mountOf(mounts []corev1.VolumeMount, file string) *corev1.VolumeMount {
	var nearest *corev1.VolumeMount
	for i, mount := range mounts {
		if within(file, mount.MountPath) && (nearest == nil || within(mount.MountPath, nearest.MountPath)) {
			nearest = &mounts[i]
		}
	}
	return nearest
}

func isInlineCSI(volumes []corev1.Volume, name string) bool {
	return slices.ContainsFunc(volumes, func(v corev1.Volume) bool { return v.Name == name && v.CSI != nil })
}

// lasts reports whether files in a volume may still be there when the pod is gone.
func lasts(volumes []corev1.Volume, name string) bool {
	i := slices.IndexFunc(volumes, func(v corev1.Volume) bool { return v.Name == name })
	if i < 0 {
		return false
	}
	v := volumes[i]
	return v.EmptyDir == nil && v.Ephemeral == nil && v.ConfigMap == nil && v.Secret == nil && v.DownwardAPI == nil && v.Projected == nil && v.Image == nil
}
