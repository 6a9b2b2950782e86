// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package job

import (
	"path"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

const (
	// dependenciesDir is where a template may mount a volume for snapshots of dependencies.
	dependenciesDir = "/pulumi-dependencies"
	// keeperContainer writes the snapshots: package keeper says why another container does.
	keeperContainer = "dependencies"
	// keeperVolume has the socket of the keeper.
	keeperVolume, keeperDir = "pulumi-keeper", "/pulumi-keeper"
	keeperSocket            = keeperDir + "/s"
)

// addDependencies tells the runner of the snapshots. It makes their mount read-only for the container
// of the run, whose program could otherwise change what other runs get, and adds the keeper if the
// template lets runs write there. It returns a TemplateError if programs could write there all the
// same.
func addDependencies(s Settings, r run.Run, pod *corev1.PodSpec) error {
	main := mainOf(pod)
	i := slices.IndexFunc(main.VolumeMounts, isOfDependencies)
	if i < 0 {
		return nil
	}
	mount := main.VolumeMounts[i]
	claim := claimOf(pod, mount)
	isKept := !mount.ReadOnly && (claim == nil || !claim.ReadOnly)
	if isKept {
		if problem := whyNotKept(pod, mount); problem != "" {
			return &TemplateError{podField, "mounts a volume at " + dependenciesDir + " to which runs write, " + problem}
		}
	}
	main.VolumeMounts[i].ReadOnly = true
	if s.DependencyCacheSize == 0 {
		return nil
	}
	main.Args = append(main.Args, "--dependencies-dir="+dependenciesDir)
	if isKept && r.Program.Artifact != nil && r.RunsProgram() {
		main.Args = append(main.Args, "--keeper="+keeperSocket)
		main.VolumeMounts = append(main.VolumeMounts, corev1.VolumeMount{Name: keeperVolume, MountPath: keeperDir})
		pod.Volumes = append(pod.Volumes, emptyDir(keeperVolume))
		pod.Containers = append(pod.Containers, keeping(s, r, pod, mount))
	}
	return nil
}

func isOfDependencies(mount corev1.VolumeMount) bool {
	return path.Clean("/"+mount.MountPath) == dependenciesDir
}

// claimOf returns the claim that is mounted, nil if it is another kind of volume.
func claimOf(pod *corev1.PodSpec, mount corev1.VolumeMount) *corev1.PersistentVolumeClaimVolumeSource {
	for _, volume := range pod.Volumes {
		if volume.Name == mount.Name {
			return volume.PersistentVolumeClaim
		}
	}
	return nil
}

// whyNotKept returns why a program could write to the volume, or others than the runs of the
// namespace could read there: only a claim is always of one namespace.
func whyNotKept(pod *corev1.PodSpec, writable corev1.VolumeMount) string {
	claim := claimOf(pod, writable)
	switch {
	case claim == nil:
		return "and which is no persistentVolumeClaim: other volumes can be of several namespaces. Use a claim, or mount it with readOnly: true"
	case writable.SubPathExpr != "":
		return "with a subPathExpr: use subPath"
	case ptr.Deref(pod.ShareProcessNamespace, false) || pod.HostPID:
		return "but programs can reach the processes of other containers: remove shareProcessNamespace and hostPID"
	}
	for _, container := range slices.Concat(pod.InitContainers, pod.Containers) {
		if container.Name == keeperContainer {
			return "but has a container " + keeperContainer + ", which is that of the controller: give it another name"
		}
		for _, mount := range container.VolumeMounts {
			isOther := container.Name != mainContainer || !isOfDependencies(mount)
			of := claimOf(pod, mount)
			if isOther && of != nil && of.ClaimName == claim.ClaimName && !mount.ReadOnly {
				return "and also in container " + container.Name + " at " + mount.MountPath + ": mount it there with readOnly: true"
			}
		}
	}
	for _, volume := range pod.Volumes {
		if volume.Name == keeperVolume {
			return "but has a volume " + keeperVolume + ", which is that of the controller: give it another name"
		}
	}
	return ""
}

// keeping returns the container that writes the snapshots. It has the user of the container of the
// run, and the resources of the one that copies the controller, which a template may change.
func keeping(s Settings, r run.Run, pod *corev1.PodSpec, writable corev1.VolumeMount) corev1.Container {
	security := restricted()
	if as := mainOf(pod).SecurityContext; as != nil {
		security.RunAsUser, security.RunAsGroup, security.RunAsNonRoot = as.RunAsUser, as.RunAsGroup, as.RunAsNonRoot
	}
	return corev1.Container{
		Name:            keeperContainer,
		Image:           s.Image,
		ImagePullPolicy: s.PullPolicy,
		Args: []string{
			"runner", "--keep=" + keeperSocket, "--dependencies-dir=" + dependenciesDir, "--namespace=" + r.Namespace,
			"--dependency-cache-size=" + strconv.FormatInt(s.DependencyCacheSize, 10),
		},
		Resources:                containerOf(pod.InitContainers, copyContainer).Resources,
		SecurityContext:          security,
		VolumeMounts:             []corev1.VolumeMount{writable, {Name: keeperVolume, MountPath: keeperDir}},
		TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
	}
}
