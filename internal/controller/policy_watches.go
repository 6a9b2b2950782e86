// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/source"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

// policyWatches watches PolicySets, and the labels of namespaces once a PolicySet selects by them.
// It first finds out whether it may: the informer of what is not served, or may not be listed,
// would wait for ever, and each reconcile with it.
type policyWatches struct {
	controller controller.Controller
	manager    ctrl.Manager
	reconciler *StackReconciler

	mu         sync.Mutex
	sets       watched
	namespaces watched
	// denied says that the log has it that PolicySets may not be listed.
	denied bool
}

// watched is what has become of a watch.
type watched struct {
	started bool
	// lookedAt is when it was last tried in vain, and err why it is not possible.
	lookedAt time.Time
	err      error
}

const (
	// lookAgainAfter is how long to wait before looking again for a watch that is not permitted.
	lookAgainAfter = time.Minute
	// unservedAfter is how long to wait before looking again for a kind that is not served. It is
	// short, as the runs that start meanwhile are not guarded, and one list for all Stacks.
	unservedAfter = 5 * time.Second
)

func newPolicyWatches(c controller.Controller, mgr ctrl.Manager, r *StackReconciler) *policyWatches {
	return &policyWatches{controller: c, manager: mgr, reconciler: r}
}

// ensureSets watches PolicySets. It returns false if there can be none: the cluster does not serve
// them, or this controller serves one namespace only and may not list them. Most such controllers
// are a team's own, in a cluster that may have no PolicySets, so that they run all the same, and say
// so. A nil receiver, as in tests, watches nothing.
func (w *policyWatches) ensureSets(ctx context.Context) (bool, error) {
	if w == nil {
		return true, nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	err := w.ensure(ctx, &w.sets, &v1.PolicySetList{}, func() error {
		mapped := handler.EnqueueRequestsFromMapFunc(w.reconciler.stacksOfPolicySet)
		return w.controller.Watch(source.Kind(w.manager.GetCache(), client.Object(&v1.PolicySet{}), mapped, predicate.GenerationChangedPredicate{}))
	})
	switch {
	case err == nil:
		w.denied = false
		return true, nil
	case meta.IsNoMatchError(err), apierrors.IsNotFound(err):
		return false, nil
	case apierrors.IsForbidden(err) && w.reconciler.OneNamespace:
		if !w.denied {
			ctrl.LoggerFrom(ctx).Error(err, "PolicySets are not applied: no policy guards the Stacks of this controller, as it may not list the PolicySets of the cluster. "+
				"If they are to guard its Stacks, give its service account the rights for that with a ClusterRoleBinding")
		}
		w.denied = true
		return false, nil
	}
	return false, fmt.Errorf("failed to list the PolicySets, so that it is not known which policies guard the Stack: %w", err)
}

// ensureNamespaces watches the labels of namespaces.
func (w *policyWatches) ensureNamespaces(ctx context.Context) error {
	if w == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("NamespaceList"))
	err := w.ensure(ctx, &w.namespaces, list, func() error {
		namespace := &metav1.PartialObjectMetadata{}
		namespace.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Namespace"))
		mapped := handler.EnqueueRequestsFromMapFunc(w.reconciler.stacksIn)
		return w.controller.Watch(source.Kind(w.manager.GetCache(), client.Object(namespace), mapped, predicate.LabelChangedPredicate{}))
	})
	if err != nil {
		return fmt.Errorf("failed to list the namespaces, by whose labels PolicySets select Stacks: %w", err)
	}
	return nil
}

// ensure starts a watch once a list has succeeded.
func (w *policyWatches) ensure(ctx context.Context, of *watched, list client.ObjectList, start func() error) error {
	now := w.reconciler.Now()
	if of.started {
		return nil
	}
	patience := unservedAfter
	if apierrors.IsForbidden(of.err) {
		patience = lookAgainAfter
	}
	if since := now.Sub(of.lookedAt); of.err != nil && since >= 0 && since < patience {
		return of.err
	}
	err := w.reconciler.APIReader.List(ctx, list, client.Limit(1))
	if err != nil {
		*of = watched{}
		if meta.IsNoMatchError(err) || apierrors.IsNotFound(err) || apierrors.IsForbidden(err) {
			of.lookedAt, of.err = now, err
		}
		return err
	}
	if err := start(); err != nil {
		return fmt.Errorf("failed to watch: %w", err)
	}
	*of = watched{started: true}
	return nil
}

// have reports whether there may be a PolicySet, as far as is known.
func (w *policyWatches) have(ctx context.Context) bool {
	if w == nil {
		return false
	}
	w.mu.Lock()
	started := w.sets.started
	w.mu.Unlock()
	if !started {
		return false
	}
	var sets v1.PolicySetList
	err := w.reconciler.List(ctx, &sets, client.UnsafeDisableDeepCopy)
	return err != nil || len(sets.Items) > 0
}

// relabelPatience is how long an event of a Stack waits for the cache of PolicySets: it holds up the
// events of all other Stacks.
const relabelPatience = time.Second

// relabelledPredicate passes a Stack with other labels, by which a PolicySet may select it or not.
func (r *StackReconciler) relabelledPredicate() predicate.Predicate {
	return stackUpdated(func(before, after *v1.Stack) bool {
		if maps.Equal(before.Labels, after.Labels) {
			return false
		}
		ctx, cancel := context.WithTimeout(context.Background(), relabelPatience)
		defer cancel()
		return r.policies.have(ctx)
	})
}
