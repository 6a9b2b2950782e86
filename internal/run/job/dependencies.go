// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package job

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/flux-pulumi/pulumi-controller/internal/pulumi"
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
	if !s.usesDependencies(r) || s.namespaceUID == "" {
		return nil
	}
	main.Args = append(main.Args, "--dependencies-dir="+dependenciesDir, "--namespace-uid="+s.namespaceUID)
	if isKept {
		main.Args = append(main.Args, "--keeper="+keeperSocket)
		main.Args = append(main.Args, keptSnapshots(r)...)
		main.VolumeMounts = append(main.VolumeMounts, corev1.VolumeMount{Name: keeperVolume, MountPath: keeperDir})
		pod.Volumes = append(pod.Volumes, emptyDir(keeperVolume))
		// The kubelet starts containers in this order and pulls the image of each meanwhile. The run
		// waits for the keeper, whose image is there, and no other container must come between them. It
		// is no sidecar with restartPolicy: Always, as a second keeper would serve the program.
		pod.Containers = slices.Insert(pod.Containers, 0, keeping(s, r, pod, mount))
	}
	return nil
}

// usesDependencies reports whether a run may copy or keep snapshots: of its program or, whatever that
// is, of its policy packs.
func (s Settings) usesDependencies(r run.Run) bool {
	ofProgram := r.Program.Artifact != nil && r.RunsProgram() && (s.runtime == "" || pulumi.HasSnapshots(s.runtime))
	return s.DependencyCacheSize > 0 && (ofProgram || r.LoadsPolicies())
}

// keptSnapshots is the argument about how many snapshots a run may keep. One needs none.
func keptSnapshots(r run.Run) []string {
	if !r.LoadsPolicies() {
		return nil
	}
	return []string{"--snapshots=" + strconv.Itoa(len(r.Policies)+1)}
}

// withNamespaceUID reads the UID of the run's namespace, if its pod has snapshots: the volume may come
// from an earlier namespace of the same name. Without permission to read it, nothing is kept.
func (r *Runner) withNamespaceUID(ctx context.Context, s Settings, todo run.Run, pod *corev1.PodSpec) (Settings, error) {
	if !slices.ContainsFunc(mainOf(pod).VolumeMounts, isOfDependencies) || !s.usesDependencies(todo) {
		return s, nil
	}
	uid, err := r.options.NamespaceUID(ctx, todo.Namespace)
	switch {
	case err == nil:
		s.namespaceUID = uid
	case isFinal(err):
		r.options.Log.Error(err, "runs keep no dependencies in a namespace that cannot be read", "namespace", todo.Namespace)
	default:
		return s, fmt.Errorf("failed to read namespace %s: %w", todo.Namespace, err)
	}
	return s, nil
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
		Args: append([]string{
			"runner", "--keep=" + keeperSocket, "--dependencies-dir=" + dependenciesDir, "--namespace=" + r.Namespace, "--namespace-uid=" + s.namespaceUID,
			"--dependency-cache-size=" + strconv.FormatInt(s.DependencyCacheSize, 10),
		}, keptSnapshots(r)...),
		Resources:                containerOf(pod.InitContainers, copyContainer).Resources,
		SecurityContext:          security,
		VolumeMounts:             []corev1.VolumeMount{writable, {Name: keeperVolume, MountPath: keeperDir}},
		TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
	}
}
