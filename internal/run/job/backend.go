// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package job

import (
	"fmt"
	"net/url"
	"path"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/flux-pulumi/pulumi-controller/internal/run/podfiles"
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
	mount := podfiles.MountOf(main.VolumeMounts, path.Join(location.Path, podfiles.StateDir))
	if mount != nil && mount.SubPathExpr == "" && podfiles.Last(pod.Spec.Volumes, mount.Name) && !isInlineCSI(pod.Spec.Volumes, mount.Name) {
		return nil
	}
	return fmt.Errorf("the backend is a directory of the pod (%s), and is deleted with it: use an object store or Pulumi Cloud, "+
		"or mount a persistent volume at that path, with spec.workspaceTemplate.spec.podTemplate", location.Path)
}

func isInlineCSI(volumes []corev1.Volume, name string) bool {
	return slices.ContainsFunc(volumes, func(v corev1.Volume) bool { return v.Name == name && v.CSI != nil })
}
