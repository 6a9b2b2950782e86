// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package policysets

import (
	"context"
	"errors"
	"fmt"
	"time"

	eventv1 "github.com/fluxcd/pkg/apis/event/v1beta1"
	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	runtimectrl "github.com/fluxcd/pkg/runtime/controller"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/policy"
	"github.com/flux-pulumi/pulumi-controller/internal/policy/packs"
	"github.com/flux-pulumi/pulumi-controller/internal/source"
	"github.com/flux-pulumi/pulumi-controller/internal/stackstatus"
	"github.com/flux-pulumi/pulumi-controller/internal/watches"
)

// +kubebuilder:rbac:groups=pulumi.com,resources=policysets/status,verbs=patch

// Reconciler reports in the status of each PolicySet whether its packs can be used, and
// which Stacks violate them. It runs nothing, and nothing waits for it: a Stack resolves the packs
// that guard it itself.
type Reconciler struct {
	// Client reads from the cache, and writes.
	client.Client
	// APIReader reads ConfigMaps, which are not cached.
	APIReader client.Reader
	// Metrics of reconciles, the same as those of all Flux controllers.
	runtimectrl.Metrics
	// Events records Kubernetes Events.
	Events EventRecorder
	// Owner is the field manager of all writes.
	Owner client.FieldOwner
	// Sources resolves the artifacts of packs.
	Sources packs.Sources
	// Now is the clock.
	Now func() time.Time

	policies *watches.Policies
	// ours reports whether this controller writes the status of a PolicySet.
	ours func(client.Object) bool
	// stacks has the Stacks of all shards.
	stacks cache.Cache
	// used watches the Stacks and the ConfigMaps once there is a PolicySet.
	used    *watches.OnDemand
	watches *watches.Sources
	// poll is how often a PolicySet with configFrom is reconciled. Zero is never, as ConfigMaps
	// are watched.
	poll time.Duration
}

// EventRecorder is the part of fluxcd/pkg/runtime/events that is needed. It must not
// block.
type EventRecorder interface {
	AnnotatedEventf(object runtime.Object, annotations map[string]string, eventtype, reason, format string, args ...any)
}

// policySetRetry is how long to wait for packs that cannot be used. What they wait for is watched,
// unless the cluster does not serve it.
const policySetRetry = time.Minute

// Reconcile brings the status of the PolicySet up to date.
func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	started := r.Now()
	set := &v1.PolicySet{}
	err := r.Get(ctx, req.NamespacedName, set)
	if apierrors.IsNotFound(err) {
		if r.MetricsRecorder != nil {
			r.MetricsRecorder.DeleteDuration(corev1.ObjectReference{Kind: v1.PolicySetKind, Name: req.Name})
		}
		return ctrl.Result{}, nil
	}
	if err != nil {
		return ctrl.Result{}, fmt.Errorf("failed to read PolicySet %s: %w", req.Name, err)
	}
	defer func() { r.RecordDuration(ctx, set, started) }()
	if err := r.used.Ensure(ctx); err != nil {
		return ctrl.Result{}, fmt.Errorf("failed to list the Stacks that PolicySets report on: %w", err)
	}
	found, err := r.findPacks(ctx, set)
	if err != nil {
		return ctrl.Result{}, err
	}
	digest, err := found.digest()
	if err != nil {
		return ctrl.Result{}, err
	}
	report, err := r.reportOn(ctx, set, digest)
	if err != nil {
		return ctrl.Result{}, err
	}
	err = r.write(ctx, set, func() { markPolicySet(set, found, digest, report) })
	switch {
	case apierrors.IsConflict(err):
		return ctrl.Result{RequeueAfter: watches.ConflictRetry}, nil // the cache is behind
	case client.IgnoreNotFound(err) != nil:
		return ctrl.Result{}, fmt.Errorf("failed to report on PolicySet %s: %w", req.Name, err)
	case found.problem != nil:
		return ctrl.Result{RequeueAfter: policySetRetry}, nil
	}
	return ctrl.Result{RequeueAfter: r.poll}, nil
}

// findPacks resolves the packs. Its error is one of the API server.
func (r *Reconciler) findPacks(ctx context.Context, set *v1.PolicySet) (foundPacks, error) {
	found := foundPacks{problem: policy.CheckSelectors(set)}
	found.invalid = found.problem != nil
	resolver := packs.Resolver{Sources: r.Sources, ConfigMaps: r.APIReader, Watch: r.watches.Ensure}
	for i := range set.Spec.Packs {
		pack, err := resolver.Pack(ctx, set, &set.Spec.Packs[i])
		switch config := (*packs.ConfigError)(nil); {
		case err == nil:
			found.packs = append(found.packs, pack)
		case !errors.As(err, &config) && !source.IsProblem(err) && !apierrors.IsForbidden(err):
			return foundPacks{}, fmt.Errorf("failed to resolve the packs of PolicySet %s: %w", set.Name, err)
		case found.problem == nil:
			found.problem = err
			found.invalid = config != nil && set.Spec.Packs[i].ConfigFrom == nil || errors.Is(err, source.ErrInvalid)
		}
	}
	return found, nil
}

// reportOn reports on the Stacks that the PolicySet selects.
func (r *Reconciler) reportOn(ctx context.Context, set *v1.PolicySet, digest string) (policy.Report, error) {
	namespaces, err := r.policies.LabelsFor(ctx, set)
	if err != nil {
		return policy.Report{}, err
	}
	var stacks v1.StackList
	if err := r.stacks.List(ctx, &stacks, client.UnsafeDisableDeepCopy); err != nil {
		return policy.Report{}, fmt.Errorf("failed to list the Stacks that PolicySet %s selects: %w", set.Name, err)
	}
	return policy.ReportOn(set, digest, stacks.Items, namespaces), nil
}

// write changes the status and writes it if it differs, and emits events for what has changed.
func (r *Reconciler) write(ctx context.Context, set *v1.PolicySet, change func()) error {
	before := set.DeepCopy()
	change()
	if equality.Semantic.DeepEqual(before.Status, set.Status) {
		return nil
	}
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := r.Status().Patch(ctx, set, patch, r.Owner); err != nil {
		return fmt.Errorf("failed to write the status: %w", err)
	}
	if event, changed := readyEvent(before, set); changed {
		r.emit(set, event)
	}
	if event, changed := violationEvent(before.Status, set.Status); changed {
		r.emit(set, event)
	}
	return nil
}

func (r *Reconciler) emit(set *v1.PolicySet, e stackstatus.Event) {
	token := map[string]string{v1.GroupVersion.Group + "/" + eventv1.MetaTokenKey: set.ResourceVersion}
	r.Events.AnnotatedEventf(set, token, e.Type, e.Reason, "%s", e.Message)
}

// readyEvent returns the event for packs that cannot be used, or can be used again or in another
// version, false if there is none.
func readyEvent(before, after *v1.PolicySet) (stackstatus.Event, bool) {
	was, is := conditions.Get(before, meta.ReadyCondition), conditions.Get(after, meta.ReadyCondition)
	if was != nil && was.Status == is.Status && was.Message == is.Message {
		return stackstatus.Event{}, false
	}
	kind := corev1.EventTypeNormal
	if is.Status == metav1.ConditionFalse {
		kind = corev1.EventTypeWarning
	}
	return stackstatus.Event{Type: kind, Reason: is.Reason, Message: is.Message}, true
}
