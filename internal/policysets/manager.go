// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package policysets

import (
	"context"
	"fmt"
	"maps"
	"time"

	runtimectrl "github.com/fluxcd/pkg/runtime/controller"
	"github.com/fluxcd/pkg/runtime/predicates"
	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/policy"
	"github.com/flux-pulumi/pulumi-controller/internal/watches"
)

// reportDelay is how long changes of Stacks are gathered before PolicySets report on them: all
// Stacks are checked after a change of a pack.
const reportDelay = 5 * time.Second

// Options are the options of the controller.
type Options struct {
	// RateLimiter limits the retries of reconciles that fail.
	RateLimiter runtimectrl.RateLimiterOptions
	// Selector selects by label the PolicySets whose status this controller writes. Its Stacks
	// are guarded by others too.
	Selector metav1.LabelSelector
	// Configs selects the ConfigMaps whose changes reconcile the PolicySets that refer to them. Nil
	// selects all.
	Configs predicate.Predicate
	// IgnoreConfigs leaves ConfigMaps unwatched: changes take effect at the next interval.
	IgnoreConfigs bool
	// PartialCache says that the cache of the manager lacks the Stacks of other shards.
	PartialCache bool
}

// SetupWithManager registers the controller. It watches nothing but PolicySets as long as there
// are none.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager, opts Options) error {
	selector, err := metav1.LabelSelectorAsSelector(&opts.Selector)
	if err != nil {
		return fmt.Errorf("failed to read the labels of the PolicySets to report on: %w", err)
	}
	r.ours = func(set client.Object) bool { return selector.Matches(labels.Set(set.GetLabels())) }
	ours := predicate.NewPredicateFuncs(r.ours)
	c, err := controller.New("policyset", mgr, controller.Options{
		Reconciler: r, RateLimiter: runtimectrl.GetRateLimiter(opts.RateLimiter), LogConstructor: policySetLog(mgr.GetLogger()),
	})
	if err != nil {
		return fmt.Errorf("failed to build the PolicySet controller: %w", err)
	}
	r.stacks = mgr.GetCache()
	if opts.PartialCache {
		if r.stacks, err = stacksOfAllShards(mgr); err != nil {
			return err
		}
	}
	if opts.IgnoreConfigs {
		r.poll = v1.DefaultInterval
	}
	r.watches = watches.NewSources(c, mgr, func(kind string) handler.MapFunc { return r.setsThatUse(watches.UsesSource(kind)) })
	r.policies = watches.NewPolicies(c, mgr, r.Now, watches.PolicyEvents{
		PolicySet: &handler.EnqueueRequestForObject{}, Predicates: []predicate.Predicate{ours, predicate.Or(
			predicate.GenerationChangedPredicate{}, predicates.ReconcileRequestedPredicate{}, predicate.LabelChangedPredicate{})},
		Namespace: func(ctx context.Context, _ client.Object) []ctrl.Request {
			return r.setsThat(ctx, policy.NeedsNamespaces)
		},
	})
	r.used = watches.NewOnDemand(r.APIReader, &v1.StackList{}, r.Now, func() error { return r.watchUsed(c, mgr, opts) })
	if err := mgr.Add(r.policies); err != nil {
		return fmt.Errorf("failed to watch PolicySets: %w", err)
	}
	return nil
}

// watchUsed watches what PolicySets report on, and where their config comes from.
func (r *Reconciler) watchUsed(c controller.Controller, mgr ctrl.Manager, opts Options) error {
	if err := c.Watch(source.Kind[client.Object](r.stacks, &v1.Stack{}, r.stackHandler())); err != nil || opts.IgnoreConfigs {
		return err
	}
	configMap := &metav1.PartialObjectMetadata{}
	configMap.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMap"))
	changed := predicate.Predicate(predicate.ResourceVersionChangedPredicate{})
	if opts.Configs != nil {
		changed = predicate.And(changed, opts.Configs)
	}
	return c.Watch(source.Kind[client.Object](mgr.GetCache(), configMap, handler.EnqueueRequestsFromMapFunc(r.setsThatUse(watches.UsesConfigMap)), changed))
}

// stacksOfAllShards returns a cache of all Stacks with no more of them than PolicySets report on.
// It is empty until it is read.
func stacksOfAllShards(mgr ctrl.Manager) (cache.Cache, error) {
	all, err := cache.New(mgr.GetConfig(), cache.Options{
		HTTPClient: mgr.GetHTTPClient(), Scheme: mgr.GetScheme(), Mapper: mgr.GetRESTMapper(),
		ByObject: map[client.Object]cache.ByObject{&v1.Stack{}: {Transform: onlyPolicies}},
	})
	if err == nil {
		err = mgr.Add(all)
	}
	if err != nil {
		return nil, fmt.Errorf("failed to make the cache of the Stacks of all shards: %w", err)
	}
	return all, nil
}

// onlyPolicies drops what PolicySets do not report on from a Stack.
func onlyPolicies(object any) (any, error) {
	stack, ok := object.(*v1.Stack)
	if !ok {
		return object, nil
	}
	return &v1.Stack{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: stack.Namespace, Name: stack.Name, UID: stack.UID, ResourceVersion: stack.ResourceVersion,
			Labels: stack.Labels, DeletionTimestamp: stack.DeletionTimestamp,
		},
		Status: v1.StackStatus{Policies: stack.Status.Policies},
	}, nil
}

// stackHandler enqueues all PolicySets for a Stack whose policies or labels have changed. It
// gathers such changes.
func (r *Reconciler) stackHandler() handler.EventHandler {
	enqueue := func(ctx context.Context, q queue) {
		for _, request := range r.setsThat(ctx, func(*v1.PolicySet) bool { return true }) {
			q.AddAfter(request, reportDelay)
		}
	}
	return handler.Funcs{
		CreateFunc: func(ctx context.Context, _ event.CreateEvent, q queue) { enqueue(ctx, q) },
		UpdateFunc: func(ctx context.Context, e event.UpdateEvent, q queue) {
			before, okBefore := e.ObjectOld.(*v1.Stack)
			after, okAfter := e.ObjectNew.(*v1.Stack)
			if okBefore && okAfter && reportChanged(before, after) {
				enqueue(ctx, q)
			}
		},
		DeleteFunc: func(ctx context.Context, _ event.DeleteEvent, q queue) { enqueue(ctx, q) },
	}
}

// queue is the work queue of PolicySets.
type queue = workqueue.TypedRateLimitingInterface[ctrl.Request]

// reportChanged reports whether a change of a Stack changes what PolicySets report on.
func reportChanged(before, after *v1.Stack) bool {
	return !maps.Equal(before.Labels, after.Labels) || before.DeletionTimestamp.IsZero() != after.DeletionTimestamp.IsZero() ||
		!equality.Semantic.DeepEqual(resultsOf(before), resultsOf(after))
}

// resultsOf returns what is reported of the policies of a Stack.
func resultsOf(stack *v1.Stack) v1.PoliciesStatus {
	if stack.Status.Policies == nil {
		return v1.PoliciesStatus{}
	}
	return v1.PoliciesStatus{Sets: stack.Status.Policies.Sets, Violations: stack.Status.Policies.Violations}
}

// setsThatUse maps an object to the PolicySets that use it.
func (r *Reconciler) setsThatUse(uses func(*v1.PolicySet, client.Object) bool) handler.MapFunc {
	return func(ctx context.Context, object client.Object) []ctrl.Request {
		return r.setsThat(ctx, func(set *v1.PolicySet) bool { return uses(set, object) })
	}
}

// setsThat returns the PolicySets for which the function returns true. Those that another controller
// reports on are left out.
func (r *Reconciler) setsThat(ctx context.Context, are func(*v1.PolicySet) bool) []ctrl.Request {
	sets, err := r.policies.SetsThat(ctx, func(set *v1.PolicySet) bool { return r.ours(set) && are(set) })
	if err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "the status of PolicySets may be behind")
	}
	requests := make([]ctrl.Request, 0, len(sets))
	for _, set := range sets {
		requests = append(requests, ctrl.Request{NamespacedName: client.ObjectKeyFromObject(set)})
	}
	return requests
}

// policySetLog logs with the keys and values of controller-runtime, so that flux logs
// --kind=PolicySet shows it.
func policySetLog(log logr.Logger) func(*reconcile.Request) logr.Logger {
	log = log.WithValues("controller", "policyset", "controllerGroup", v1.GroupVersion.Group, "controllerKind", v1.PolicySetKind)
	return func(request *reconcile.Request) logr.Logger {
		if request == nil {
			return log
		}
		return log.WithValues("name", request.Name)
	}
}
