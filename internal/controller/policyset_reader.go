// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/source"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/observe"
	"github.com/flux-pulumi/pulumi-controller/internal/policy"
)

// policyReader reads from the cache what the selection of Stacks by PolicySets depends on: the
// PolicySets, and the labels of namespaces once a PolicySet selects by them. It watches both for a
// controller. A nil policyReader, as in tests, watches nothing.
type policyReader struct {
	// cached reads from the cache.
	cached client.Reader
	// policySets and namespaces watch the two kinds.
	policySets, namespaces *onDemandWatch
	// oneNamespace says that the controller serves one namespace only, so that it may have no right
	// to list the PolicySets of the cluster.
	oneNamespace bool
	// denied is set once the log says that PolicySets may not be listed, so that it says so once.
	denied atomic.Bool
}

// policyEvents says what a controller reconciles when the two kinds change.
type policyEvents struct {
	// policySet handles a change of a PolicySet that passes the predicates.
	policySet  handler.EventHandler
	predicates []predicate.Predicate
	// namespace maps a namespace with other labels to what is reconciled.
	namespace handler.MapFunc
}

// newPolicyReader returns what reads for the controller.
func newPolicyReader(c controller.Controller, mgr ctrl.Manager, now func() time.Time, on policyEvents) *policyReader {
	watch := func(list client.ObjectList, object client.Object, handled handler.EventHandler, predicates ...predicate.Predicate) *onDemandWatch {
		return &onDemandWatch{reader: mgr.GetAPIReader(), list: list, now: now, start: func() error {
			return c.Watch(source.Kind(mgr.GetCache(), object, handled, predicates...))
		}}
	}
	return &policyReader{
		cached:     mgr.GetClient(),
		policySets: watch(&v1.PolicySetList{}, &v1.PolicySet{}, on.policySet, on.predicates...),
		namespaces: watch(observe.NewNamespaceList(), observe.NewNamespaceObject(), handler.EnqueueRequestsFromMapFunc(on.namespace), predicate.LabelChangedPredicate{}),
	}
}

// watchInterval is how often the watch of PolicySets is tried. Most tries ask the API server
// nothing: what is known of the kind has to become older first.
const watchInterval = time.Second

// Start implements manager.Runnable: it waits until PolicySets are watched. No reconcile may be due
// that would find out that they can be: a Stack that is in sync is checked because of the watch.
func (r *policyReader) Start(ctx context.Context) error {
	ticker := time.NewTicker(watchInterval)
	defer ticker.Stop()
	logged := ""
	for {
		_, err := r.ensureSets(ctx)
		if r.policySets.isStarted() {
			return nil
		}
		if err != nil && ctx.Err() == nil && err.Error() != logged {
			logged = err.Error()
			ctrl.LoggerFrom(ctx).Error(err, "PolicySets are not watched yet")
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// ensureSets watches PolicySets. It returns false if there can be none: the cluster does not serve
// them, or this controller serves one namespace only and may not list them. Most such controllers
// are a team's own, in a cluster that may have no PolicySets, so that they run all the same, and say
// so.
func (r *policyReader) ensureSets(ctx context.Context) (bool, error) {
	if r == nil {
		return true, nil
	}
	err := r.policySets.ensure(ctx)
	switch {
	case err == nil:
		return true, nil
	case isNotServed(err):
		return false, nil
	case apierrors.IsForbidden(err) && r.oneNamespace:
		if !r.denied.Swap(true) {
			ctrl.LoggerFrom(ctx).Error(err, "PolicySets are not applied: no policy guards the Stacks of this controller, as it may not list the PolicySets of the cluster. "+
				"If they are to guard its Stacks, give its service account the rights for that with a ClusterRoleBinding")
		}
		return false, nil
	}
	return false, fmt.Errorf("failed to list the PolicySets, so that it is not known which policies guard the Stacks: %w", err)
}

// ensureNamespaces watches the labels of namespaces.
func (r *policyReader) ensureNamespaces(ctx context.Context) error {
	if r == nil {
		return nil
	}
	if err := r.namespaces.ensure(ctx); err != nil {
		return fmt.Errorf("failed to list the namespaces, by whose labels PolicySets select Stacks: %w", err)
	}
	return nil
}

// sets returns the PolicySets, none as long as they are not watched: handlers of events call it,
// which must not wait for the API server. They are the cache's and must not be modified.
func (r *policyReader) sets(ctx context.Context) ([]v1.PolicySet, error) {
	if r == nil || !r.policySets.isStarted() {
		return nil, nil
	}
	var sets v1.PolicySetList
	if err := r.cached.List(ctx, &sets, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("failed to list the PolicySets: %w", err)
	}
	return sets.Items, nil
}

// setsThat returns those PolicySets for which the function returns true.
func (r *policyReader) setsThat(ctx context.Context, are func(*v1.PolicySet) bool) ([]*v1.PolicySet, error) {
	sets, err := r.sets(ctx)
	var those []*v1.PolicySet
	for i := range sets {
		if are(&sets[i]) {
			those = append(those, &sets[i])
		}
	}
	return those, err
}

// labelsFor returns the labels of all namespaces by name, nil if they make no difference to the
// PolicySet. They must not be modified.
func (r *policyReader) labelsFor(ctx context.Context, set *v1.PolicySet) (map[string]map[string]string, error) {
	if !policy.NeedsNamespaces(set) {
		return nil, nil
	}
	if err := r.ensureNamespaces(ctx); err != nil {
		return nil, err
	}
	namespaces := observe.NewNamespaceList()
	if err := r.cached.List(ctx, namespaces, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("failed to list the namespaces: %w", err)
	}
	labels := make(map[string]map[string]string, len(namespaces.Items))
	for i := range namespaces.Items {
		labels[namespaces.Items[i].Name] = namespaces.Items[i].Labels
	}
	return labels, nil
}
