// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package job

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/run/job/exchange"
)

// These rights are in the Role of config/runner-jobs, and not in that of all controllers. A right on roles takes nothing
// that the controller may not do itself, so that it needs neither escalate nor bind.
// +kubebuilder:rbac:groups=batch,resources=jobs,verbs=get;list;watch;create;delete
// +kubebuilder:rbac:groups="",resources=pods,verbs=list;watch;create
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups="",resources=serviceaccounts,verbs=create
// +kubebuilder:rbac:groups=rbac.authorization.k8s.io,resources=roles;rolebindings,verbs=create

// fieldOwner is the field manager of this controller's writes.
const fieldOwner = client.FieldOwner("pulumi-controller")

// createObjects creates the objects of a run, the Job last. After an error it is called again, and
// adopts what exists already.
func (r *Runner) createObjects(ctx context.Context, settings Settings, todo run.Run) error {
	built, err := build(settings, todo)
	if err == nil {
		if settings, err = r.withNamespaceUID(ctx, settings, todo, &built.job.Spec.Template.Spec); err != nil {
			return err
		}
		built, err = build(settings, todo)
	}
	if err != nil {
		r.settleWithoutJob(key{todo.Namespace, todo.ID}, notStarted(err.Error()))
		return nil
	}
	refusal, err := r.createSecret(ctx, built.secret)
	switch {
	case err != nil:
		return err
	case refusal != nil:
		r.settleWithoutJob(key{todo.Namespace, todo.ID}, notStarted(refusalText(todo.Namespace, refusal)))
		return nil
	case len(built.secret.Data[exchange.ClaimKey]) > 0:
		// An earlier try has created everything, its answer was lost, and a pod is at
		// work. Do not give the run up if something is rejected now, for example by a
		// quota that the run itself exhausts.
		r.created(key{todo.Namespace, todo.ID})
		return nil
	}
	built.withSecret(built.secret)
	all := []client.Object{built.role, built.binding}
	if built.account != nil {
		all = append([]client.Object{built.account}, all...)
	}
	for _, object := range all {
		if err := r.create(ctx, object); err != nil {
			return r.refused(todo, built.secret, err)
		}
	}
	if err := r.tryJob(ctx, built.job); err != nil {
		return r.refused(todo, built.secret, err)
	}
	if err := r.create(ctx, built.job); err != nil {
		return r.refused(todo, built.secret, err)
	}
	r.created(key{todo.Namespace, todo.ID})
	return nil
}

// created records that all objects of the run exist.
func (r *Runner) created(k key) {
	r.update(k, func(known *record) {
		known.todo = nil
		known.report.Progress.Waiting = ""
		r.queue.Add(k)
	})
}

// create creates an object that an earlier try may have created.
func (r *Runner) create(ctx context.Context, object client.Object) error {
	err := r.options.Client.Create(ctx, object, fieldOwner)
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return r.explained(object, err)
}

// createSecret creates the Secret of a run, or reads the one of an earlier try whose
// answer was lost. The API server may reject a second one before it notices the first,
// for example because the first has exhausted a quota: only if none can be read either,
// there is no Secret. That is a refusal; after an error the caller retries.
func (r *Runner) createSecret(ctx context.Context, secret *corev1.Secret) (refusal, err error) {
	err = r.options.Client.Create(ctx, secret, fieldOwner)
	exists := apierrors.IsAlreadyExists(err)
	if err == nil || !exists && !isFinal(err) {
		return nil, r.explained(secret, err)
	}
	name, there := client.ObjectKeyFromObject(secret), &corev1.Secret{}
	notRead := r.options.Reader.Get(ctx, name, there)
	switch {
	case notRead == nil && there.Labels[RunLabel] == secret.Labels[RunLabel]:
		there.DeepCopyInto(secret)
		return nil, nil
	case notRead == nil && exists:
		err = apierrors.NewForbidden(corev1.Resource("secrets"), name.Name, errors.New("another Secret has that name: delete it"))
	case notRead != nil && (exists || !apierrors.IsNotFound(notRead)):
		return nil, fmt.Errorf("reading Secret %s: %w", name, notRead)
	}
	return r.explained(secret, err), nil
}

// explained adds what was done to which object.
func (r *Runner) explained(object client.Object, err error) error {
	if err == nil {
		return nil
	}
	kind, unknown := r.client.GroupVersionKindFor(object)
	switch {
	case unknown != nil:
		kind.Kind = "object"
	case kind.Kind == "Pod":
		kind.Kind = "a pod of Job"
	}
	return fmt.Errorf("failed to create %s %s/%s: %w", kind.Kind, object.GetNamespace(), object.GetName(), err)
}

// tryPod asks the API server with a dry run whether it would accept the pod. The Job
// controller only finds that out when it creates one, and reports it only in events: an
// exhausted quota, a missing ServiceAccount, a violation of pod security. It returns the pod
// with what the namespace adds.
func (r *Runner) tryPod(ctx context.Context, job *batchv1.Job) (*corev1.Pod, error) {
	pod := podLike(job)
	err := r.options.Client.Create(ctx, pod, client.DryRunAll, fieldOwner)
	if err == nil || apierrors.IsAlreadyExists(err) || apierrors.IsBadRequest(err) {
		return pod, nil // a webhook that rejects dry runs is asked when the pod is created
	}
	return nil, r.explained(pod, err)
}

// podLike is the pod that the Job controller would create. It has an owner, because there
// are policies against pods without one.
func podLike(job *batchv1.Job) *corev1.Pod {
	template := job.Spec.Template.DeepCopy()
	pod := &corev1.Pod{ObjectMeta: template.ObjectMeta, Spec: template.Spec}
	pod.Namespace, pod.Name = job.Namespace, job.Name
	if pod.Labels == nil {
		pod.Labels = map[string]string{}
	}
	pod.Labels[batchv1.JobNameLabel] = job.Name
	// The Job has no UID yet, and nobody looks up the owner in a dry run.
	owner := metav1.NewControllerRef(&metav1.ObjectMeta{Name: job.Name, UID: types.UID(job.Labels[RunLabel])}, batchv1.SchemeGroupVersion.WithKind("Job"))
	owner.BlockOwnerDeletion = nil
	pod.OwnerReferences = []metav1.OwnerReference{*owner}
	return pod
}

// refused ends a run whose objects the API server rejects. It returns any other error for
// another try, as nobody knows what was created.
func (r *Runner) refused(todo run.Run, secret *corev1.Secret, err error) error {
	if !isFinal(err) {
		return err
	}
	ended, k := notStarted(refusalText(todo.Namespace, err)), key{todo.Namespace, todo.ID}
	if isInvalidPod(err) {
		ended = r.invalidPod(todo, ended, err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), requestTimeout)
	defer cancel()
	// If an earlier try has created the Job and its answer was lost, its pod finds the
	// result and ends. If the pod has claimed the run meanwhile, the run is not given up,
	// and the Job stays.
	if err := r.giveUp(ctx, secret, ended); err != nil {
		return err
	}
	if err := r.removeJob(ctx, k); err != nil {
		return err
	}
	r.settle(k, ended)
	_, err = r.reconcileLingeringAgain(ctx, k)
	return err
}

// invalidPod returns the result of a run whose pod is not valid. Without a template, the spec is
// not at fault, but what the administrator or the cluster adds to pods.
func (r *Runner) invalidPod(todo run.Run, ended *run.Result, err error) *run.Result {
	adding := "LimitRanges and webhooks"
	if r.options.Settings.Defaults.areGiven() {
		adding = "--runner-workspace-template, " + adding
	}
	switch {
	case len(todo.Workspace) > 0:
		ended.Outcome = run.InvalidSpec
		ended.Message = oneLine(templateField + ", or what " + adding + " add to it, results in an invalid pod: " + err.Error())
	case r.options.Settings.Defaults.areGiven():
		ended.Message = oneLine("what " + adding + " add to the pod is invalid: " + err.Error())
	}
	return ended
}

// isFinal reports whether the same request would get the same answer again.
func isFinal(err error) bool {
	return apierrors.IsForbidden(err) || apierrors.IsInvalid(err) || apierrors.IsNotFound(err) || apierrors.IsRequestEntityTooLargeError(err) ||
		apierrors.IsBadRequest(err) || apierrors.IsUnauthorized(err) || apierrors.IsMethodNotSupported(err)
}

// isInvalidPod reports whether the API server's own validation rejects a pod, or its Job.
// An admission policy may answer "invalid" too, but names no field.
func isInvalidPod(err error) bool {
	var status apierrors.APIStatus
	if !apierrors.IsInvalid(err) || !errors.As(err, &status) || status.Status().Details == nil {
		return false
	}
	details := status.Status().Details
	named := slices.ContainsFunc(details.Causes, func(c metav1.StatusCause) bool { return c.Field != "" })
	return named && (details.Kind == "Pod" || details.Kind == "Job")
}

// notStarted is the result of a run for which no pod was created.
func notStarted(message string) *run.Result {
	now := time.Now()
	return &run.Result{Outcome: run.PodFailed, Message: oneLine(message), StartedAt: now, EndedAt: now}
}
