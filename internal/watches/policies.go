// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package watches

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

// Policies reads from the cache what the selection of Stacks by PolicySets depends on: the
// PolicySets, and the labels of namespaces once a PolicySet selects by them. It watches both for a
// controller. A nil Policies, as in tests, watches nothing.
type Policies struct {
	// cached reads from the cache.
	cached client.Reader
	// policySets and namespaces watch the two kinds.
	policySets, namespaces *OnDemand
	// OneNamespace says that the controller serves one namespace only, so that it may have no right
	// to list the PolicySets of the cluster.
	OneNamespace bool
	// denied is set once the log says that PolicySets may not be listed, so that it says so once.
	denied atomic.Bool
}

// PolicyEvents says what a controller reconciles when the two kinds change.
type PolicyEvents struct {
	// PolicySet handles a change of a PolicySet that passes the predicates.
	PolicySet  handler.EventHandler
	Predicates []predicate.Predicate
	// Namespace maps a namespace with other labels to what is reconciled.
	Namespace handler.MapFunc
}

// NewPolicies returns what reads for the controller.
func NewPolicies(c controller.Controller, mgr ctrl.Manager, now func() time.Time, on PolicyEvents) *Policies {
	watch := func(list client.ObjectList, object client.Object, handled handler.EventHandler, predicates ...predicate.Predicate) *OnDemand {
		return NewOnDemand(mgr.GetAPIReader(), list, now, func() error {
			return c.Watch(source.Kind(mgr.GetCache(), object, handled, predicates...))
		})
	}
	return &Policies{
		cached:     mgr.GetClient(),
		policySets: watch(&v1.PolicySetList{}, &v1.PolicySet{}, on.PolicySet, on.Predicates...),
		namespaces: watch(observe.NewNamespaceList(), observe.NewNamespaceObject(), handler.EnqueueRequestsFromMapFunc(on.Namespace), predicate.LabelChangedPredicate{}),
	}
}

// watchInterval is how often the watch of PolicySets is tried. Most tries ask the API server
// nothing: what is known of the kind has to become older first.
const watchInterval = time.Second

// Start implements manager.Runnable: it waits until PolicySets are watched. No reconcile may be due
// that would find out that they can be: a Stack that is in sync is checked because of the watch.
func (r *Policies) Start(ctx context.Context) error {
	ticker := time.NewTicker(watchInterval)
	defer ticker.Stop()
	logged := ""
	for {
		_, err := r.EnsureSets(ctx)
		if r.policySets.IsStarted() {
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

// EnsureSets watches PolicySets. It returns false if there can be none: the cluster does not serve
// them, or this controller serves one namespace only and may not list them. Most such controllers
// are a team's own, in a cluster that may have no PolicySets, so that they run all the same, and say
// so.
func (r *Policies) EnsureSets(ctx context.Context) (bool, error) {
	if r == nil {
		return true, nil
	}
	err := r.policySets.Ensure(ctx)
	switch {
	case err == nil:
		return true, nil
	case isNotServed(err):
		return false, nil
	case apierrors.IsForbidden(err) && r.OneNamespace:
		if !r.denied.Swap(true) {
			ctrl.LoggerFrom(ctx).Error(err, "PolicySets are not applied: no policy guards the Stacks of this controller, as it may not list the PolicySets of the cluster. "+
				"If they are to guard its Stacks, give its service account the rights for that with a ClusterRoleBinding")
		}
		return false, nil
	}
	return false, fmt.Errorf("failed to list the PolicySets, so that it is not known which policies guard the Stacks: %w", err)
}

// EnsureNamespaces watches the labels of namespaces.
func (r *Policies) EnsureNamespaces(ctx context.Context) error {
	if r == nil {
		return nil
	}
	if err := r.namespaces.Ensure(ctx); err != nil {
		return fmt.Errorf("failed to list the namespaces, by whose labels PolicySets select Stacks: %w", err)
	}
	return nil
}

// Sets returns the PolicySets, none as long as they are not watched: handlers of events call it,
// which must not wait for the API server. They are the cache's and must not be modified.
func (r *Policies) Sets(ctx context.Context) ([]v1.PolicySet, error) {
	if r == nil || !r.policySets.IsStarted() {
		return nil, nil
	}
	var sets v1.PolicySetList
	if err := r.cached.List(ctx, &sets, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("failed to list the PolicySets: %w", err)
	}
	return sets.Items, nil
}

// eventPatience is how long an event of a Stack waits for the cache of PolicySets: it holds up the
// events of all other Stacks.
const eventPatience = time.Second

// MayHaveSets reports, to an event, whether there may be PolicySets.
func (r *Policies) MayHaveSets() bool {
	ctx, cancel := context.WithTimeout(context.Background(), eventPatience)
	defer cancel()
	sets, err := r.Sets(ctx)
	return err != nil || len(sets) > 0
}

// SetsThat returns those PolicySets for which the function returns true.
func (r *Policies) SetsThat(ctx context.Context, are func(*v1.PolicySet) bool) ([]*v1.PolicySet, error) {
	sets, err := r.Sets(ctx)
	var those []*v1.PolicySet
	for i := range sets {
		if are(&sets[i]) {
			those = append(those, &sets[i])
		}
	}
	return those, err
}

// LabelsFor returns the labels of all namespaces by name, nil if they make no difference to the
// PolicySet. They must not be modified.
func (r *Policies) LabelsFor(ctx context.Context, set *v1.PolicySet) (map[string]map[string]string, error) {
	if !policy.NeedsNamespaces(set) {
		return nil, nil
	}
	if err := r.EnsureNamespaces(ctx); err != nil {
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
