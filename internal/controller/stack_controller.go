// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"slices"
	"time"

	runtimectrl "github.com/fluxcd/pkg/runtime/controller"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/decide"
	"github.com/flux-pulumi/pulumi-controller/internal/dependency"
	"github.com/flux-pulumi/pulumi-controller/internal/inputs"
	"github.com/flux-pulumi/pulumi-controller/internal/metrics"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// +kubebuilder:rbac:groups=pulumi.com,resources=stacks,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=pulumi.com,resources=stacks/status,verbs=patch
// +kubebuilder:rbac:groups=pulumi.com,resources=stacks/finalizers,verbs=update
// +kubebuilder:rbac:groups=pulumi.com,resources=programs,verbs=list;watch
// +kubebuilder:rbac:groups=source.toolkit.fluxcd.io,resources=gitrepositories;ocirepositories;buckets;externalartifacts,verbs=list;watch
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=serviceaccounts/token,verbs=create
// +kubebuilder:rbac:groups="",resources=events,verbs=create;patch
// +kubebuilder:rbac:urls=/livez/ping,verbs=head

// In the namespace that the controller runs in: its lease, and the pods of the controllers before it. The installation
// puts the name of the namespace.
// +kubebuilder:rbac:groups=coordination.k8s.io,namespace=flux-system,resources=leases,verbs=get;create;update
// +kubebuilder:rbac:groups="",namespace=flux-system,resources=pods,verbs=get

// StackReconciler keeps Stacks as their programs say.
type StackReconciler struct {
	// Client reads from the cache, and writes.
	client.Client
	// APIReader reads from the API server itself, for what must not be stale.
	APIReader client.Reader
	// Metrics of reconciles, as all Flux controllers have them.
	runtimectrl.Metrics
	// Runs counts the runs that have ended. Nil counts none.
	Runs *metrics.Runs
	// Events tells people what happened.
	Events EventRecorder

	// Runner is where runs are done.
	Runner run.Runner
	// Progress tells how far a run has come that is in flight. Nil tells nothing.
	Progress func(id string) run.Progress
	// CheckRun tells why a run can never be done by the Runner, as its pod cannot be as
	// spec.workspaceTemplate says, or as it is too large. Nil is for a Runner that has no pods.
	CheckRun func(todo run.Run) error
	// NamespaceEnds tells whether a namespace is being deleted, so that no run can be
	// begun in it. Nil is for a Runner that makes nothing there.
	NamespaceEnds func(ctx context.Context, namespace string) (bool, error)
	// JobName names the Job of a run. Nil is for a Runner that has none.
	JobName func(id string) string
	// WaitsFor tells what keeps the next run of a Stack from a slot, beside the runs of
	// others: "" is nothing. Nil is for a Runner that has no pods.
	WaitsFor func(namespace, name string) string
	// Withdrawable tells whether no pod has begun a run in flight, and Withdraw ends such a
	// run. Nil is for a Runner that has no pods.
	Withdrawable func(id string) bool
	Withdraw     func(id string)
	// UnknownCreates tells which creations of a run that is in flight have an unknown
	// outcome. It has the Stack reconciled when there is another. Nil tells none.
	UnknownCreates func(id string) []string
	// Ending tells whether this process begins no run any more. Nil is never.
	Ending func() bool
	// Holder is this process, as recorded in the runs it starts.
	Holder v1.RunHolder
	// Holders proves the death of the processes that recorded other runs.
	Holders HolderProver
	// Sources finds the artifact a Stack refers to.
	Sources SourceResolver
	// CheckProgram is what finds out what is wrong with a Program.
	CheckProgram ProgramCheck
	// Accounts are asked before a run starts that has a service account. Nil asks
	// nobody.
	Accounts AccountChecker
	// NoCrossNamespaceRefs denies references to other namespaces.
	NoCrossNamespaceRefs bool
	// ControllerRefs is what references of the types Env and FS read: the controller
	// itself. Nil denies them.
	ControllerRefs *inputs.Controller
	// RefuseLocalPrograms refuses previews of programs that somebody brings.
	RefuseLocalPrograms bool
	// DefaultServiceAccount is the account of programs whose Stack names none.
	// Empty means that they have no access to the cluster.
	DefaultServiceAccount string
	// AdditiveCELDependencyCheck has a readyExpr add to the built-in check of a
	// dependency, and not replace it.
	AdditiveCELDependencyCheck bool
	// PartialCache: the cache has but some of the Stacks that others may refer to,
	// as in a shard.
	PartialCache bool
	// RequeueDependency is when to look again at Stacks that are not in the cache,
	// as nothing tells of their changes.
	RequeueDependency time.Duration
	// Jitter spreads intervals.
	Jitter func(time.Duration) time.Duration
	// Now is the clock.
	Now func() time.Time

	inventories inventories
	watches     *sourceWatches
	expressions *dependency.Expressions
	checks      programChecks
}

// Reconcile takes the Stack one step further.
func (r *StackReconciler) Reconcile(ctx context.Context, req ctrl.Request) (result ctrl.Result, err error) {
	started := r.Now()
	stack := &v1.Stack{}
	if err := r.get(ctx, req, stack); err != nil {
		if apierrors.IsNotFound(err) {
			return r.unwatched(ctx, req)
		}
		if apierrors.IsConflict(err) {
			return ctrl.Result{RequeueAfter: conflictRetry}, nil // the object has changed
		}
		return ctrl.Result{}, err
	}
	defer func() { r.RecordDuration(ctx, stack, started) }()

	seen, err := r.observe(ctx, stack)
	if apierrors.IsConflict(err) {
		return ctrl.Result{RequeueAfter: conflictRetry}, nil // an object that is kept for the Stack has changed
	}
	if err != nil {
		return ctrl.Result{}, fmt.Errorf("failed to observe Stack %s: %w", req.NamespacedName, err)
	}
	decision := r.decide(ctx, stack, seen)
	ctrl.LoggerFrom(ctx).V(1).Info("decided", "action", decision.String(), "reason", decision.Reason, "after", decision.After)
	if !decide.KeepsTurn(seen.Observation, decision) {
		r.Runner.Release(req.Namespace, req.Name)
	}
	err = r.act(ctx, stack, seen, decision)
	switch {
	case isTooLarge(err):
		// An event is an object of its own, and the only place left to tell it.
		r.announce(ctx, stack, notice{kind: corev1.EventTypeWarning, reason: v1.InvalidSpecReason,
			message: "The object is too large for its status to be written: move large values of spec.config into the program"})
		return ctrl.Result{}, fmt.Errorf("failed to act (%s) on Stack %s: %w", decision, req.NamespacedName, err)
	case isRefused(err) && decision.Action == decide.Absorb:
		r.announce(ctx, stack, notice{kind: corev1.EventTypeWarning, reason: statusRefusedReason, message: refusedText(err)})
		return ctrl.Result{}, fmt.Errorf("failed to act (%s) on Stack %s: %w", decision, req.NamespacedName, err)
	case apierrors.IsConflict(err):
		// What was observed is stale. The event of the newer object is on its
		// way, but may be one that the predicates keep back.
		return ctrl.Result{RequeueAfter: conflictRetry}, nil
	case apierrors.IsNotFound(err) && !stack.DeletionTimestamp.IsZero():
		return ctrl.Result{}, nil
	case err != nil:
		return ctrl.Result{}, fmt.Errorf("failed to act (%s) on Stack %s: %w", decision, req.NamespacedName, err)
	}
	return ctrl.Result{RequeueAfter: r.inventories.after(req.NamespacedName, r.Now(), r.after(stack, decision))}, nil
}

// forgetDuration drops the metrics of a Stack that is gone. Those of one that had
// the finalizer went with it, but one that never ran goes without a word.
func (r *StackReconciler) forgetDuration(req ctrl.Request) {
	if r.MetricsRecorder != nil {
		r.MetricsRecorder.DeleteDuration(corev1.ObjectReference{Kind: v1.StackKind, Namespace: req.Namespace, Name: req.Name})
	}
}

// conflictRetry is when to look again after a write was refused because the
// object had changed: time enough for the cache to see the change.
const conflictRetry = 100 * time.Millisecond

// get reads the Stack from the cache. A Stack with a run in flight is read from
// the API server: in a stale copy a run that has been absorbed and forgotten
// would look like one that was lost. So is one that has none while the runner has a
// result for it. When it has none there either, the result was absorbed by a write
// whose answer was lost, or it is of an object before this one, and nobody else makes
// the runner forget it.
func (r *StackReconciler) get(ctx context.Context, req ctrl.Request, stack *v1.Stack) error {
	if err := r.Get(ctx, req.NamespacedName, stack); err != nil {
		return err
	}
	kept := r.hasEnded(req)
	if stack.Status.Run == nil && !kept {
		return nil
	}
	if err := r.APIReader.Get(ctx, req.NamespacedName, stack); err != nil {
		return err
	}
	if stack.Status.Run == nil && kept {
		return r.abandonTo(ctx, stack)
	}
	return nil
}

// hasEnded tells whether the runner keeps a result of the Stack.
func (r *StackReconciler) hasEnded(req ctrl.Request) bool {
	return slices.ContainsFunc(r.Runner.Ended(), func(ended run.Ref) bool {
		return ended.Namespace == req.Namespace && ended.Name == req.Name
	})
}

// after spreads the interval of Stacks that are in sync, so that those created
// together do not stay together. A run that has started is looked at when it is
// time to tell how far it has come.
func (r *StackReconciler) after(stack *v1.Stack, decision decide.Decision) time.Duration {
	switch {
	case decision.Action == decide.InSync, decision.Action == decide.TakeOver:
		return r.Jitter(decision.After)
	case decision.Action == decide.Start && stack.Status.Run != nil:
		return decide.ProgressAfter
	}
	return decision.After
}
