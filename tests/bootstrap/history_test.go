// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package bootstrap

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"

	"github.com/fluxcd/pkg/runtime/conditions"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// history records the states of objects in order, including those that lasted only a moment.
type history struct {
	mu      sync.Mutex
	moments map[string][]moment // by kind and name
}

// moment is a state of an object. All versions come from one etcd, which numbers the writes of all objects.
type moment struct {
	version uint64
	deleted bool
	object  *unstructured.Unstructured
}

// watch adds the objects of a kind, in all namespaces, until ctx ends.
func (h *history) watch(ctx context.Context, c client.WithWatch, kind schema.GroupVersionKind) error {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
	watcher, err := c.Watch(ctx, list)
	if err != nil {
		return fmt.Errorf("watching every %s: %w", kind.Kind, err)
	}
	go func() {
		for event := range watcher.ResultChan() {
			h.add(event)
		}
	}()
	return nil
}

func (h *history) add(event watch.Event) {
	object, ok := event.Object.(*unstructured.Unstructured)
	if !ok {
		return
	}
	version, err := strconv.ParseUint(object.GetResourceVersion(), 10, 64)
	if err != nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	key := object.GetKind() + "/" + object.GetName()
	h.moments[key] = append(h.moments[key], moment{version: version, deleted: event.Type == watch.Deleted, object: object})
}

// of returns what has been seen of an object so far.
func (h *history) of(key string) []moment {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.moments[key])
}

// first returns the version at which something first became true, or 0.
func (h *history) first(key string, is func(moment) bool) uint64 {
	for _, moment := range h.of(key) {
		if is(moment) {
			return moment.version
		}
	}
	return 0
}

func exists(m moment) bool { return !m.deleted }
func gone(m moment) bool   { return m.deleted }

// ready reports whether the object is Ready at its current generation.
func ready(m moment) bool { return !m.deleted && isReady(m.object) }

func isReady(object *unstructured.Unstructured) bool {
	return conditions.IsReady(conditions.UnstructuredGetter(object)) && observed(object) == object.GetGeneration()
}

func observed(object *unstructured.Unstructured) int64 {
	generation, _, _ := unstructured.NestedInt64(object.Object, "status", "observedGeneration")
	return generation
}

// readyAt reports whether the object was Ready for a revision.
func readyAt(revision string) func(moment) bool {
	return func(m moment) bool { return ready(m) && applied(m.object) == revision }
}

func applied(object *unstructured.Unstructured) string {
	revision, _, _ := unstructured.NestedString(object.Object, "status", "lastAppliedRevision")
	return revision
}
