// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package programs

import (
	"context"
	"fmt"
	"strings"
	"time"

	eventv1 "github.com/fluxcd/pkg/apis/event/v1beta1"
	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	runtimectrl "github.com/fluxcd/pkg/runtime/controller"
	"github.com/fluxcd/pkg/runtime/predicates"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/observe"
	"github.com/flux-pulumi/pulumi-controller/internal/plural"
	text "github.com/flux-pulumi/pulumi-controller/internal/program"
	"github.com/flux-pulumi/pulumi-controller/internal/stackstatus"
	"github.com/flux-pulumi/pulumi-controller/internal/watches"
)

// +kubebuilder:rbac:groups=pulumi.com,resources=programs/status,verbs=patch

// Reconciler reports in the status of each Program whether it is valid. It runs
// nothing, and nothing waits for it: a Stack validates its Program itself.
type Reconciler struct {
	// Client reads from the cache, and writes.
	client.Client
	// Metrics of reconciles, the same as those of all Flux controllers.
	runtimectrl.Metrics
	// Events records Kubernetes Events.
	Events EventRecorder
	// Owner is the field manager of all writes.
	Owner client.FieldOwner
	// Check validates Programs.
	Check observe.ProgramCheck
	// Now is the clock.
	Now func() time.Time
}

// EventRecorder is the part of fluxcd/pkg/runtime/events that is needed. It must not
// block.
type EventRecorder interface {
	AnnotatedEventf(object runtime.Object, annotations map[string]string, eventtype, reason, format string, args ...any)
}

// Options are the options of the controller.
type Options struct {
	// RateLimiter limits the retries of reconciles that fail.
	RateLimiter runtimectrl.RateLimiterOptions
	// Selector selects by label the Programs whose status this controller writes. Its
	// Stacks may run others.
	Selector metav1.LabelSelector
}

// SetupWithManager registers the controller.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager, opts Options) error {
	ours, err := predicate.LabelSelectorPredicate(opts.Selector)
	if err != nil {
		return fmt.Errorf("failed to read the labels of the Programs to notify about: %w", err)
	}
	err = ctrl.NewControllerManagedBy(mgr).
		For(observe.NewProgramObject(), builder.WithPredicates(ours, predicate.Or(
			predicate.GenerationChangedPredicate{}, predicates.ReconcileRequestedPredicate{}, predicate.LabelChangedPredicate{},
		))).
		WithOptions(controller.Options{RateLimiter: runtimectrl.GetRateLimiter(opts.RateLimiter)}).
		Complete(r)
	if err != nil {
		return fmt.Errorf("failed to build the Program controller: %w", err)
	}
	return nil
}

// Reconcile validates the Program. It never requeues: only an edit can change the result.
func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	started := r.Now()
	object := observe.NewProgramObject()
	err := r.Get(ctx, req.NamespacedName, object)
	if apierrors.IsNotFound(err) || err == nil && object.GetDeletionTimestamp() != nil {
		if r.MetricsRecorder != nil {
			r.MetricsRecorder.DeleteDuration(corev1.ObjectReference{Kind: v1.ProgramKind, Namespace: req.Namespace, Name: req.Name})
		}
		return ctrl.Result{}, nil
	}
	if err != nil {
		return ctrl.Result{}, fmt.Errorf("failed to read Program %s: %w", req.NamespacedName, err)
	}
	program, err := observe.WithoutText(object)
	if err != nil {
		return ctrl.Result{}, err
	}
	defer func() { r.RecordDuration(ctx, program, started) }()
	checked, err := r.Check.Of(object)
	if err != nil {
		return ctrl.Result{}, err
	}
	err = r.report(ctx, program, checked)
	switch {
	case apierrors.IsConflict(err):
		return ctrl.Result{RequeueAfter: watches.ConflictRetry}, nil // the cache is behind
	case client.IgnoreNotFound(err) != nil:
		return ctrl.Result{}, fmt.Errorf("failed to notify about Program %s: %w", req.NamespacedName, err)
	}
	return ctrl.Result{}, nil
}

// report writes the result to the status if it differs, and emits an event if it is news.
func (r *Reconciler) report(ctx context.Context, program *v1.Program, checked text.Checked) error {
	before := program.DeepCopy()
	markChecked(program, checked)
	if equality.Semantic.DeepEqual(before.Status, program.Status) {
		return nil
	}
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := r.Status().Patch(ctx, program, patch, r.Owner); err != nil {
		return fmt.Errorf("failed to write the status: %w", err)
	}
	was, is := conditions.Get(before, meta.ReadyCondition), conditions.Get(program, meta.ReadyCondition)
	kind := corev1.EventTypeNormal
	switch {
	case is.Status == metav1.ConditionFalse && (was == nil || was.Message != is.Message || was.Status != is.Status):
		kind = corev1.EventTypeWarning
	case is.Status == metav1.ConditionTrue && was != nil && was.Status == metav1.ConditionFalse:
	default:
		return nil // still valid is no news
	}
	r.Events.AnnotatedEventf(program, map[string]string{
		v1.GroupVersion.Group + "/" + eventv1.MetaRevisionKey: observe.ProgramRevision(program.Generation, checked.Digest),
		v1.GroupVersion.Group + "/" + eventv1.MetaTokenKey:    program.ResourceVersion,
	}, kind, is.Reason, "%s", is.Message)
	return nil
}

// markChecked writes the result to the status. An invalid Program is Stalled, as only an
// edit can change that.
func markChecked(program *v1.Program, checked text.Checked) {
	program.Status.ObservedGeneration = program.Generation
	program.Status.Digest = checked.Digest
	if value, ok := meta.ReconcileAnnotationValue(program.Annotations); ok {
		program.Status.SetLastHandledReconcileRequest(stackstatus.RequestToken(value))
	}
	conditions.Delete(program, meta.ReconcilingCondition)
	// Programs run on the controller's own machine, so one that reaches outside its
	// project is invalid too.
	if faults := checked.Invalid.With(checked.SandboxViolations); !faults.None() {
		conditions.MarkFalse(program, meta.ReadyCondition, v1.ProgramInvalidReason, "%s", faults.String())
		conditions.MarkStalled(program, v1.ProgramInvalidReason, "%s", faults.String())
		return
	}
	conditions.Delete(program, meta.StalledCondition)
	conditions.MarkTrue(program, meta.ReadyCondition, meta.SucceededReason, "%s", validText(checked))
}

// validText describes a valid Program: its number of resources, and the config that its
// Stacks must set.
func validText(checked text.Checked) string {
	resources := plural.Of(checked.Resources, "resource", "resources")
	if len(checked.Undeclared) == 0 {
		return "Valid program with " + resources
	}
	return fmt.Sprintf("Valid program with %s. It uses config that it does not declare, which each Stack must set: %s",
		resources, strings.Join(checked.Undeclared, ", "))
}
