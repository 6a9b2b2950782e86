// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package job

import (
	"cmp"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/grammar"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/run/job/exchange"
)

// objects are everything that is created for one run.
type objects struct {
	secret *corev1.Secret
	// account is nil if the Stack names one.
	account *corev1.ServiceAccount
	role    *rbacv1.Role
	binding *rbacv1.RoleBinding
	job     *batchv1.Job
}

// check returns why no pod can execute the run: a TemplateError about
// spec.workspaceTemplate, an error about the backend, or that no Secret can hold the run.
func check(s Settings, r run.Run) error {
	_, err := build(s, r)
	return err
}

// podOf returns the template of the pod, without the digest of the run, and the name of
// its ServiceAccount.
func podOf(s Settings, r run.Run, w workspace) (corev1.PodTemplateSpec, string, error) {
	if r.Account.Name != "" && w.ServiceAccountName != "" && w.ServiceAccountName != r.Account.Name {
		return corev1.PodTemplateSpec{}, "", &TemplateError{templateField + ".spec.serviceAccountName",
			"differs from spec.serviceAccountName: remove one of the two"}
	}
	// A program with its own kubeconfig needs no account, but its pod may need one, for
	// its image or a cloud. If nothing names an account, the pod gets its own, which may
	// only write the result: the default account of the namespace may have been granted
	// more.
	account := cmp.Or(r.Account.Name, w.ServiceAccountName, s.Defaults.ServiceAccountName, Name(r.ID))
	base := basePod(s, r, account)
	if cmp.Or(w.Image, s.runtimeImage, s.Defaults.Image) != "" {
		mainOf(&base.Spec).ImagePullPolicy = "" // which is for the image of the controller
	}
	pod, err := mergePod(base, s.PodSecurity, s.Defaults.workspace, workspace{Image: s.runtimeImage}, w)
	if err == nil {
		err = addDependencies(s, r, &pod.Spec)
	}
	if err == nil {
		err = addIdentity(r, &pod.Spec)
	}
	if err == nil {
		err = checkBackend(r.Backend, pod)
	}
	return pod, account, err
}

// build returns the objects of a run. An error is a fault of the Stack: a TemplateError,
// or exchange.ErrTooLarge.
func build(s Settings, r run.Run) (*objects, error) {
	w, err := parseTemplate(r.Workspace)
	if err != nil {
		return nil, err
	}
	pod, account, err := podOf(s, r, w)
	if err != nil {
		return nil, err
	}
	main := mainOf(&pod.Spec)
	handed := r
	handed.Workspace = nil // the pod was built from it
	if setsKubeconfig(*main) {
		handed.Account = run.ServiceAccount{} // which only the pod has, then
	}
	data, digest, err := exchange.EncodeInput(exchange.Input{Run: handed, SecretEnv: secretEnv(*main), Proxies: s.Proxies, Nonce: s.nonce(r)})
	if err != nil {
		return nil, err
	}
	main.Args = append(main.Args, "--run-digest="+digest)

	meta := metav1.ObjectMeta{Namespace: r.Namespace, Name: Name(r.ID), Labels: labelsOf(r, s.Part), Annotations: annotationsOf(r)}
	owned := *meta.DeepCopy()
	owned.OwnerReferences = ownerOf(r)
	built := &objects{
		secret: &corev1.Secret{ObjectMeta: owned, Type: corev1.SecretTypeOpaque, Data: map[string][]byte{exchange.RunKey: data}},
		role: &rbacv1.Role{ObjectMeta: *meta.DeepCopy(), Rules: []rbacv1.PolicyRule{{
			APIGroups: []string{""}, Resources: []string{"secrets"}, ResourceNames: []string{Name(r.ID)}, Verbs: []string{"get", "patch"},
		}}},
		binding: &rbacv1.RoleBinding{
			ObjectMeta: *meta.DeepCopy(),
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: Name(r.ID)},
			Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: r.Namespace, Name: account}},
		},
		job: &batchv1.Job{ObjectMeta: *owned.DeepCopy(), Spec: jobSpec(s, r, pod)},
	}
	s.Defaults.jobMetadata.onto(built.job)
	w.jobMetadata.onto(built.job)
	if account == Name(r.ID) {
		built.account = &corev1.ServiceAccount{ObjectMeta: *meta.DeepCopy(), AutomountServiceAccountToken: ptr.To(false)}
	}
	return built, nil
}

// mainOf returns the container that executes the run, which no template can remove.
func mainOf(pod *corev1.PodSpec) *corev1.Container {
	return &pod.Containers[slices.IndexFunc(pod.Containers, func(c corev1.Container) bool { return c.Name == mainContainer })]
}

// jobSpec lets one pod start the run, and no second one: whether to run again is decided
// once it is known what the first has left behind.
func jobSpec(s Settings, r run.Run, pod corev1.PodTemplateSpec) batchv1.JobSpec {
	return batchv1.JobSpec{
		Parallelism:             ptr.To(int32(1)),
		Completions:             ptr.To(int32(1)),
		BackoffLimit:            ptr.To(int32(0)),
		ActiveDeadlineSeconds:   seconds(s.deadline(r)),
		TTLSecondsAfterFinished: ptr.To(int32(kept.Seconds())),
		// A pod that is being deleted may still be at work.
		PodReplacementPolicy: ptr.To(batchv1.Failed),
		PodFailurePolicy: &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{
			// Show disruptions in the status of the Job: evicted, preempted, drained or
			// lost with its node.
			{Action: batchv1.PodFailurePolicyActionFailJob, OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{
				{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue},
			}},
			// Show also that a run has ended by itself, with a result.
			{Action: batchv1.PodFailurePolicyActionFailJob, OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{
				ContainerName: ptr.To(mainContainer), Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: []int32{ExitFailed, ExitNotStarted, ExitNotReported, ExitUnreached, ExitStopped},
			}},
		}},
		Template: pod,
	}
}

// The exit codes of the runner.
const (
	// ExitFailed: the run has failed, and its result is in the Secret.
	ExitFailed = 10
	// ExitNotStarted: the run was not started, because it is not this pod's.
	ExitNotStarted = 11
	// ExitNotReported: the run has ended, but its result could not be written.
	ExitNotReported = 12
	// ExitUnreached: the run was not started, because the API server did not respond.
	ExitUnreached = 13
	// ExitStopped: the run was not started, because the pod was terminated first.
	ExitStopped = 14
)

// setsKubeconfig reports whether the program uses a kubeconfig that the template names.
func setsKubeconfig(container corev1.Container) bool {
	return slices.ContainsFunc(container.Env, func(v corev1.EnvVar) bool { return v.Name == grammar.KubeconfigVariable })
}

// secretEnv returns the variables of a container that come from Secrets.
func secretEnv(container corev1.Container) []string {
	var names []string
	for _, variable := range container.Env {
		if variable.ValueFrom != nil && variable.ValueFrom.SecretKeyRef != nil {
			names = append(names, variable.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// ownerOf makes the Stack the owner of the objects.
func ownerOf(r run.Run) []metav1.OwnerReference {
	if r.UID == "" {
		return nil
	}
	return []metav1.OwnerReference{{
		APIVersion: v1.GroupVersion.String(), Kind: v1.StackKind, Name: r.Name, UID: types.UID(r.UID), Controller: ptr.To(true),
	}}
}

// withSecret makes the Secret the owner of the objects that only serve it.
func (o *objects) withSecret(secret *corev1.Secret) {
	owner := []metav1.OwnerReference{{APIVersion: "v1", Kind: "Secret", Name: secret.Name, UID: secret.UID}}
	o.role.OwnerReferences, o.binding.OwnerReferences = owner, owner
	if o.account != nil {
		o.account.OwnerReferences = owner
	}
}
