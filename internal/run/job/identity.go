// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package job

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/run/podfiles"
)

// identityVolume has the tokens of the run for clouds, and is mounted at identityDir.
const identityVolume, identityDir = "pulumi-identity", "/var/run/secrets/pulumi.com/identity"

// tokenSeconds is how long a token lives. The kubelet renews it after four fifths of that.
const tokenSeconds = 3600

// addIdentity mounts the tokens of the run's identity in its container, after the templates were
// merged: no template can change them. The account of the pod is that of the run.
func addIdentity(r run.Run, pod *corev1.PodSpec) error {
	if r.Identity.IsZero() {
		return nil
	}
	if slices.ContainsFunc(pod.Volumes, func(v corev1.Volume) bool { return v.Name == identityVolume }) {
		return &TemplateError{podField, "has a volume " + identityVolume + ", which is that of the controller: give it another name"}
	}
	main := mainOf(pod)
	set := map[string]string{}
	for _, variable := range main.Env {
		set[variable.Name] = ""
	}
	if variable, annotation := r.Identity.Conflict(set); variable != "" {
		return &TemplateError{templateField + ".spec", "cannot have the variable " + variable + " beside the annotation " + annotation +
			" of the service account, which gives the program another identity: remove one of the two"}
	}
	for _, mount := range main.VolumeMounts {
		if podfiles.Within(mount.MountPath, identityDir) || podfiles.Within(identityDir, mount.MountPath) {
			return &TemplateError{podField, "mounts a volume at " + mount.MountPath + ", and the tokens of the service account are at " +
				identityDir + ": mount it elsewhere"}
		}
	}
	projected := &corev1.ProjectedVolumeSource{}
	for _, token := range r.Identity.Tokens() {
		projected.Sources = append(projected.Sources, corev1.VolumeProjection{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{
			Audience: token.Audience, ExpirationSeconds: ptr.To(int64(tokenSeconds)), Path: token.File,
		}})
	}
	pod.Volumes = append(pod.Volumes, corev1.Volume{Name: identityVolume, VolumeSource: corev1.VolumeSource{Projected: projected}})
	main.VolumeMounts = append(main.VolumeMounts, corev1.VolumeMount{Name: identityVolume, MountPath: identityDir, ReadOnly: true})
	main.Args = append(main.Args, "--identity-dir="+identityDir)
	return nil
}
