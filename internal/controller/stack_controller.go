// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	runtimectrl "github.com/fluxcd/pkg/runtime/controller"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/apierror"
	"github.com/flux-pulumi/pulumi-controller/internal/decide"
	"github.com/flux-pulumi/pulumi-controller/internal/dependency"
	"github.com/flux-pulumi/pulumi-controller/internal/metrics"
	"github.com/flux-pulumi/pulumi-controller/internal/observe"
	"github.com/flux-pulumi/pulumi-controller/internal/policy/packs"
	"github.com/flux-pulumi/pulumi-controller/internal/publish"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/stackstatus"
	"github.com/flux-pulumi/pulumi-controller/internal/watches"
)

// +kubebuilder:rbac:groups=pulumi.com,resources=stacks,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=pulumi.com,resources=stacks/status,verbs=patch
// +kubebuilder:rbac:groups=pulumi.com,resources=stacks/finalizers,verbs=update
// +kubebuilder:rbac:groups=pulumi.com,resources=programs,verbs=list;watch
// +kubebuilder:rbac:groups=source.toolkit.fluxcd.io,resources=gitrepositories;ocirepositories;buckets;externalartifacts,verbs=list;watch
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get;list;watch
// +kubebuilder:rbac:groups=pulumi.com,resources=policysets,verbs=list;watch
// +kubebuilder:rbac:groups="",resources=namespaces,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=serviceaccounts/token,verbs=create
// +kubebuilder:rbac:groups="",resources=serviceaccounts,verbs=get
// +kubebuilder:rbac:groups="",resources=events,verbs=create;patch
// +kubebuilder:rbac:urls=/livez/ping,verbs=head

// In the controller's own namespace: its lease, and the pods of earlier controllers. The
// installation fills in the name of the namespace.
// +kubebuilder:rbac:groups=coordination.k8s.io,namespace=flux-system,resources=leases,verbs=get;create;update
// +kubebuilder:rbac:groups="",namespace=flux-system,resources=pods,verbs=get

// StackReconciler reconciles Stacks.
type StackReconciler struct {
	// Client reads from the cache, and writes.
	client.Client
	// APIReader reads from the API server, for what must not be stale.
	APIReader client.Reader
	// Metrics of reconciles, the same as those of all Flux controllers.
	runtimectrl.Metrics
	// Runs counts ended runs. Nil counts none.
	Runs *metrics.Runs
	// Events records Kubernetes Events.
	Events EventRecorder

	// Runner does the runs.
	Runner run.Runner
	// Jobs is the Runner once more, if it executes runs as Jobs. Nil if it does not.
	Jobs Jobs
	// CheckBackend returns why a run of this process must not use a backend: its state would
	// not last. The URL may be secret, so the error does not contain it. Nil is no check.
	CheckBackend func(backend string) error
	// Holder identifies this process in the records of the runs it starts.
	Holder v1.RunHolder
	// Holders proves that the processes that recorded other runs are dead.
	Holders observe.HolderProver
	// Sources resolves the artifact a Stack refers to.
	Sources observe.SourceResolver
	// PackSources resolves the artifacts of policy packs, which may be in any namespace.
	PackSources observe.SourceResolver
	// OneNamespace says that this controller serves one namespace only, where it may have no right
	// to list the PolicySets of the cluster. None selects its Stacks then.
	OneNamespace bool
	// CheckProgram validates Programs.
	CheckProgram observe.ProgramCheck
	// Namespace of the controller itself, for the key of plans. If empty, each
	// Stack uses its own namespace.
	Namespace string
	// Accounts checks the service account of a run before it starts. Nil checks nothing.
	Accounts AccountChecker
	// Options are the flags that make a difference to what is observed. Whether runs are Jobs
	// is known by Jobs above.
	observe.Options
	// Jitter spreads intervals.
	Jitter func(time.Duration) time.Duration
	// Now is the clock.
	Now func() time.Time

	unwritten   publish.Unwritten
	watches     *watches.Sources
	policies    *watches.Policies
	expressions *dependency.Expressions
	checks      observe.ProgramChecks
	results     *observe.ResultCache
	configs     *packs.Configs
}

// Reconcile takes the Stack one step further.
func (r *StackReconciler) Reconcile(ctx context.Context, req ctrl.Request) (result ctrl.Result, err error) {
	started := r.Now()
	stack := &v1.Stack{}
	hasAbandoned, err := r.get(ctx, req, stack)
	if err == nil && hasAbandoned {
		// Before anything is decided, as the status has to name what those runs left.
		err = r.abandonTo(ctx, stack)
	}
	if err != nil {
		if notKept := (*notKeptError)(nil); errors.As(err, &notKept) {
			defer func() { r.RecordDuration(ctx, stack, started) }()
			return r.reportNotKept(ctx, stack, notKept)
		}
		if apierrors.IsNotFound(err) {
			return r.unwatched(ctx, req)
		}
		if apierrors.IsConflict(err) {
			return ctrl.Result{RequeueAfter: watches.ConflictRetry}, nil // the object has changed
		}
		return ctrl.Result{}, err
	}
	defer func() { r.RecordDuration(ctx, stack, started) }()

	seen, err := r.observe(ctx, stack)
	if apierrors.IsConflict(err) {
		return ctrl.Result{RequeueAfter: watches.ConflictRetry}, nil // an object that is kept for the Stack has changed
	}
	if err != nil {
		return ctrl.Result{}, fmt.Errorf("failed to observe Stack %s: %w", req.NamespacedName, err)
	}
	decision, which := r.decide(ctx, stack, seen)
	ctrl.LoggerFrom(ctx).V(1).Info("decided", "action", decision.String(), "reason", decision.Reason, "after", decision.After, "duties", decision.Duties)
	if !decide.KeepsTurn(seen.Observation, decision) {
		r.Runner.Release(req.Namespace, req.Name)
	}
	checks := decision.Check || decision.CheckPolicies
	if !checks {
		r.Runner.Background().Release(req.Namespace, req.Name)
	}
	failures := checkFailures(stack)
	if err := r.act(ctx, stack, seen, decision, which); err != nil {
		return r.actFailed(ctx, stack, decision, err)
	}
	if checks && checkFailures(stack) > failures {
		// No event reports it, and the action may be one after which nothing follows: the
		// next decision says when to check again.
		return ctrl.Result{RequeueAfter: failedCheckRetry}, nil
	}
	return ctrl.Result{RequeueAfter: r.after(stack, decision)}, nil
}

// actFailed returns when to reconcile again after a failure to act. A status that cannot be
// written is announced: an event is an object of its own.
func (r *StackReconciler) actFailed(ctx context.Context, stack *v1.Stack, decision decide.Decision, err error) (ctrl.Result, error) {
	notKept := (*notKeptError)(nil)
	switch {
	case errors.As(err, &notKept):
		return r.reportNotKept(ctx, stack, notKept)
	case apierror.IsTooLarge(err):
		r.announce(ctx, stack, stackstatus.Event{Type: corev1.EventTypeWarning, Reason: v1.InvalidSpecReason,
			Message: "The Stack is too large to write its status: move large values of spec.config into the program"})
	case apierror.IsRefused(err) && decision.Action == decide.Absorb:
		r.announce(ctx, stack, stackstatus.Event{Type: corev1.EventTypeWarning, Reason: stackstatus.StatusRefusedReason, Message: stackstatus.RefusedText(err)})
	case apierrors.IsConflict(err):
		// What was observed is stale. The predicates may drop the event of the newer
		// object, so requeue.
		return ctrl.Result{RequeueAfter: watches.ConflictRetry}, nil
	case apierrors.IsNotFound(err) && !stack.DeletionTimestamp.IsZero():
		return ctrl.Result{}, nil
	}
	return ctrl.Result{}, fmt.Errorf("failed to act (%s) on Stack %s: %w", decision, client.ObjectKeyFromObject(stack), err)
}

// decide decides what to do next, and which run to start. What only a run needs is checked only
// if one is to start, and counts for a recovery too.
func (r *StackReconciler) decide(ctx context.Context, stack *v1.Stack, seen *observe.Observation) (decide.Decision, launch) {
	decision := decide.Next(seen.Observation)
	if decision.Action != decide.Start {
		return decision, launch{}
	}
	which := launchOf(decision)
	problem := r.checkStart(ctx, stack, seen, &which)
	if problem == nil {
		return decision, which
	}
	seen.Problem, seen.Recoverable = problem, false
	again := decide.Next(seen.Observation)
	return again, launchOf(again)
}

// forgetDuration drops the metrics of a Stack that is gone without ever having had the
// finalizer. For the others, removing the finalizer drops them.
func (r *StackReconciler) forgetDuration(req ctrl.Request) {
	if r.MetricsRecorder != nil {
		r.MetricsRecorder.DeleteDuration(corev1.ObjectReference{Kind: v1.StackKind, Namespace: req.Namespace, Name: req.Name})
	}
}

// get reads the Stack from the cache, or from the API server if it has a run in flight or
// the runner has a result for it: in a stale copy, a run that was absorbed and forgotten
// would look lost. If the runner has a result and the Stack has no run even then, the
// result was absorbed by a write whose response was lost, or belongs to an earlier object
// of that name: get reports it as abandoned, as nothing else makes the runner forget it.
func (r *StackReconciler) get(ctx context.Context, req ctrl.Request, stack *v1.Stack) (hasAbandoned bool, err error) {
	if err := r.Get(ctx, req.NamespacedName, stack); err != nil {
		return false, err
	}
	kept := r.hasEnded(req)
	if stack.Status.Run == nil && !kept {
		return false, nil
	}
	if err := r.APIReader.Get(ctx, req.NamespacedName, stack); err != nil {
		return false, err
	}
	return stack.Status.Run == nil && kept, nil
}

// hasEnded reports whether the runner has a result for the Stack.
func (r *StackReconciler) hasEnded(req ctrl.Request) bool {
	return slices.ContainsFunc(r.Runner.Ended(), func(ended run.Ref) bool {
		return ended.Namespace == req.Namespace && ended.Name == req.Name
	})
}

// after adds jitter to the interval of Stacks that are in sync, so that those created
// together drift apart. A run that has just started is checked when its progress is due.
func (r *StackReconciler) after(stack *v1.Stack, decision decide.Decision) time.Duration {
	switch {
	case decision.Action == decide.InSync, decision.Action == decide.TakeOver, decision.Action == decide.AwaitApproval:
		return r.Jitter(decision.After)
	case decision.Action == decide.Start && stack.Status.Run != nil:
		return decide.ProgressAfter
	}
	return decision.After
}
