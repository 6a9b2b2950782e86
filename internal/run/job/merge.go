// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package job

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	psaapi "k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"

	"github.com/flux-pulumi/pulumi-controller/internal/run/podfiles"
)

// podField is the field of the patch in a Stack.
const podField = templateField + ".spec.podTemplate"

// mergePod merges templates into that of the pod, that of the administrator before that of
// the Stack. It returns a TemplateError that names a field if the result changes what the
// runner depends on, or what the administrator does not allow.
func mergePod(base corev1.PodTemplateSpec, level psaapi.Level, templates ...workspace) (corev1.PodTemplateSpec, error) {
	merged := *base.DeepCopy()
	for _, template := range templates {
		beneath := takeResources(&merged.Spec)
		template.onto(mainOf(&merged.Spec))
		var err error
		if merged, err = patchPod(merged, template.PodTemplate); err != nil {
			return merged, err
		}
		if changed := changedParts(base, merged); len(changed) > 0 {
			return merged, &TemplateError{podField, fmt.Sprintf("changes %s, which the controller depends on: remove that", strings.Join(changed, ", "))}
		}
		beneath.under(&merged.Spec)
	}
	merged.Labels, merged.Annotations = keepReserved(base.Labels, merged.Labels), keepReserved(base.Annotations, merged.Annotations)
	if err := possibleMetadata(podField+".metadata", "a pod", merged.Labels, merged.Annotations); err != nil {
		return merged, err
	}
	// In less than that of the controller a run could not stop and write its result, and in
	// more a sidecar would keep the next run waiting. Templates for the operator have one that
	// suits its agent.
	merged.Spec.TerminationGracePeriodSeconds = base.Spec.TerminationGracePeriodSeconds
	main := mainOf(&merged.Spec)
	if err := checkEnv(podField+".spec.containers["+mainContainer+"].env", main.Env); err != nil {
		return merged, err
	}
	if err := checkEnvFrom(podField+".spec.containers["+mainContainer+"].envFrom", main.EnvFrom); err != nil {
		return merged, err
	}
	main.Env = withPodEnv(main.Env)
	return merged, checkSecurity(merged, level)
}

// patchPod merges one patch, which may be missing.
func patchPod(base corev1.PodTemplateSpec, patch json.RawMessage) (corev1.PodTemplateSpec, error) {
	if members, err := membersOf(podField, patch); err != nil || members == nil {
		return base, err
	}
	original, err := json.Marshal(base)
	if err != nil {
		return base, fmt.Errorf("writing the template of the pod: %w", err)
	}
	text, err := strategicpatch.StrategicMergePatch(original, patch, corev1.PodTemplateSpec{})
	if err != nil {
		return base, &TemplateError{podField, fmt.Sprintf("cannot be merged: %v", err)}
	}
	merged := corev1.PodTemplateSpec{}
	if err := strictly(text, &merged); err != nil {
		return base, &TemplateError{podField, fmt.Sprintf("cannot be read: %v", err)}
	}
	return merged, nil
}

// changedParts lists what the patch changes and must not change.
func changedParts(base, merged corev1.PodTemplateSpec) []string {
	b, m := base.Spec, merged.Spec
	var changed []string
	note := func(part string, same bool) {
		if !same {
			changed = append(changed, part)
		}
	}
	note("spec.restartPolicy", b.RestartPolicy == m.RestartPolicy)
	note("spec.serviceAccountName (set spec.serviceAccountName of the Stack)", b.ServiceAccountName == m.ServiceAccountName && m.DeprecatedServiceAccount == "")
	note("spec.automountServiceAccountToken", equality.Semantic.DeepEqual(b.AutomountServiceAccountToken, m.AutomountServiceAccountToken))
	note("spec.hostname", b.Hostname == m.Hostname && m.Subdomain == "" && m.SetHostnameAsFQDN == nil && m.HostnameOverride == nil)
	note("spec.hostNetwork", !m.HostNetwork)
	note("spec.activeDeadlineSeconds", m.ActiveDeadlineSeconds == nil)
	note("spec.ephemeralContainers", len(m.EphemeralContainers) == 0)
	for _, volume := range b.Volumes {
		i := slices.IndexFunc(m.Volumes, func(v corev1.Volume) bool { return v.Name == volume.Name })
		note("spec.volumes["+volume.Name+"]", i >= 0 && (volume.Name != programVolume || equality.Semantic.DeepEqual(volume, m.Volumes[i])))
		note("spec.volumes["+volume.Name+"] (must be deleted with the pod: use emptyDir or ephemeral)", i < 0 || goesWithPod(m.Volumes[i]))
	}
	copies, merges := containerOf(b.InitContainers, copyContainer), containerOf(m.InitContainers, copyContainer)
	merges.Resources = copies.Resources // a LimitRange may ask for others
	note("spec.initContainers["+copyContainer+"] (except its resources)", equality.Semantic.DeepEqual(copies, merges))
	was, is := containerOf(b.Containers, mainContainer), containerOf(m.Containers, mainContainer)
	of := "spec.containers[" + mainContainer + "]."
	note(of+"command", slices.Equal(was.Command, is.Command))
	note(of+"args", slices.Equal(was.Args, is.Args))
	note(of+"volumeMounts", keepsMounts(was.VolumeMounts, is.VolumeMounts))
	for _, mount := range is.VolumeMounts {
		kept := !mount.ReadOnly && podfiles.Last(m.Volumes, mount.Name)
		note(of+"volumeMounts (what is within "+workDir+" must be deleted with the pod: use emptyDir or ephemeral)", !kept || !podfiles.Within(mount.MountPath, workDir))
	}
	note(of+"lifecycle", is.Lifecycle == nil)
	note(of+"restartPolicy", is.RestartPolicy == nil && len(is.RestartPolicyRules) == 0)
	// Finalizers and owners could keep pods, or have others delete them.
	other := merged.ObjectMeta
	other.Labels, other.Annotations = nil, nil
	note("metadata (except labels and annotations)", equality.Semantic.DeepEqual(other, metav1.ObjectMeta{}))
	slices.Sort(changed)
	return slices.Compact(changed)
}

// goesWithPod reports whether a volume belongs to the pod alone and is deleted with it:
// the files of a run are secret.
func goesWithPod(volume corev1.Volume) bool {
	rest := volume.VolumeSource
	own := rest.EmptyDir != nil || rest.Ephemeral != nil
	rest.EmptyDir, rest.Ephemeral = nil, nil
	return own && equality.Semantic.DeepEqual(rest, corev1.VolumeSource{})
}

// containerOf returns an empty container if there is none of that name.
func containerOf(containers []corev1.Container, name string) corev1.Container {
	for _, container := range containers {
		if container.Name == name {
			return container
		}
	}
	return corev1.Container{}
}

// keepsMounts reports whether the mounts of the runner are unchanged, and no other mount
// is within them or within the token of the pod.
func keepsMounts(was, is []corev1.VolumeMount) bool {
	for _, mount := range was {
		if !slices.ContainsFunc(is, func(m corev1.VolumeMount) bool { return equality.Semantic.DeepEqual(m, mount) }) {
			return false
		}
	}
	for _, mount := range is {
		own := slices.ContainsFunc(was, func(m corev1.VolumeMount) bool { return m.MountPath == mount.MountPath })
		for _, dir := range []string{programDir, accountDir} {
			if !own && (podfiles.Within(mount.MountPath, dir) || podfiles.Within(dir, mount.MountPath)) {
				return false
			}
		}
	}
	return true
}

// keepReserved returns the new labels or annotations, with those of the controller as
// they were. It ignores changes of these without an error: tools such as Helm set labels
// on everything in a manifest.
func keepReserved(was, is map[string]string) map[string]string {
	kept := maps.Clone(was)
	for key, value := range is {
		if _, own := was[key]; !own && !isReserved(key) {
			if kept == nil {
				kept = map[string]string{}
			}
			kept[key] = value
		}
	}
	return kept
}

// checkSecurity checks the pod against a Pod Security Standard. Anyone who can write a
// Stack may not be allowed to create pods, so this applies even if the namespace enforces
// nothing.
func checkSecurity(pod corev1.PodTemplateSpec, level psaapi.Level) error {
	level = cmp.Or(level, psaapi.LevelRestricted)
	if level == psaapi.LevelPrivileged {
		return nil
	}
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		return fmt.Errorf("reading the Pod Security Standards: %w", err)
	}
	results := evaluator.EvaluatePod(psaapi.LevelVersion{Level: level, Version: psaapi.LatestVersion()}, &pod.ObjectMeta, &pod.Spec)
	if result := policy.AggregateCheckResults(results); !result.Allowed {
		return &TemplateError{podField, fmt.Sprintf("is not allowed by the Pod Security Standard %q, which the administrator has set with --runner-pod-security: %s: %s",
			level, result.ForbiddenReason(), result.ForbiddenDetail())}
	}
	return nil
}
