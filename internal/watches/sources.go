// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package watches

import (
	"fmt"
	"sync"

	fluxmeta "github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/source"

	flux "github.com/flux-pulumi/pulumi-controller/internal/source"
)

// Sources starts the watch of a kind of Flux source when the first object refers to
// it. A kind that the cluster does not serve cannot be watched: watching all kinds from
// the start would keep the controller from starting on a cluster that lacks one, such as
// ExternalArtifact before Flux 2.7.
type Sources struct {
	controller controller.Controller
	manager    ctrl.Manager
	// users maps a source of a kind to what is reconciled when it changes.
	users func(kind string) handler.MapFunc

	mu      sync.Mutex
	watched map[string]bool
}

func NewSources(c controller.Controller, mgr ctrl.Manager, users func(kind string) handler.MapFunc) *Sources {
	return &Sources{controller: c, manager: mgr, users: users, watched: map[string]bool{}}
}

// Ensure watches the kind. It leaves a kind that is not served, or is no source of
// programs, for the resolver to report. A nil receiver, as in tests, watches nothing.
func (w *Sources) Ensure(kind string) error {
	if w == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.watched[kind] || !flux.IsKind(kind) {
		return nil
	}
	gvk := sourcev1.GroupVersion.WithKind(kind)
	if _, err := w.manager.GetRESTMapper().RESTMapping(gvk.GroupKind(), gvk.Version); err != nil {
		if meta.IsNoMatchError(err) {
			return nil
		}
		return fmt.Errorf("failed to look up %s: %w", gvk.GroupKind(), err)
	}
	object, err := w.manager.GetScheme().New(gvk)
	if err != nil {
		return nil
	}
	watched, ok := object.(client.Object)
	if !ok {
		return nil
	}
	mapped := handler.EnqueueRequestsFromMapFunc(w.users(kind))
	if err := w.controller.Watch(source.Kind(w.manager.GetCache(), watched, mapped, sourceChangedPredicate())); err != nil {
		return fmt.Errorf("failed to watch %s: %w", gvk.GroupKind(), err)
	}
	w.watched[kind] = true
	return nil
}

// sourceChangedPredicate passes what may change the next run: another artifact, a deleted
// source, or a new reason for a missing artifact, which the Stacks report. A source
// updates its status far more often than that.
func sourceChangedPredicate() predicate.Predicate {
	return predicate.Funcs{
		UpdateFunc: func(e event.UpdateEvent) bool {
			before, okBefore := e.ObjectOld.(sourcev1.Source)
			after, okAfter := e.ObjectNew.(sourcev1.Source)
			return okBefore && okAfter && (artifactChanged(before, after) || faultChanged(before, after) || keptChanged(e.ObjectOld, e.ObjectNew))
		},
	}
}

func artifactChanged(before, after sourcev1.Source) bool {
	a, b := before.GetArtifact(), after.GetArtifact()
	if a == nil || b == nil {
		return a != b
	}
	return a.Revision != b.Revision || a.Digest != b.Digest
}

// faultChanged reports whether a source without an artifact gives another reason for
// that.
func faultChanged(before, after sourcev1.Source) bool {
	a, okBefore := before.(conditions.Getter)
	b, okAfter := after.(conditions.Getter)
	return okBefore && okAfter && after.GetArtifact() == nil && conditions.IsFalse(b, fluxmeta.ReadyCondition) &&
		conditions.GetMessage(a, fluxmeta.ReadyCondition) != conditions.GetMessage(b, fluxmeta.ReadyCondition)
}
