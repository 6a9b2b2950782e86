// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/bounded"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/cluster"
)

// status says whether the page shows what the cluster has.
type status struct {
	Connected bool   `json:"connected"`
	Message   string `json:"message"`
}

// hub has the Stacks that the person may read, from watches that all streams share.
type hub struct {
	mu     sync.Mutex
	stacks map[client.ObjectKey]*v1.Stack
	loaded bool
	link   status
	// lost is why the Stacks of a namespace cannot be watched, for each of which that is so.
	lost        map[string]string
	subscribers map[*subscriber]struct{}
}

// subscriber collects what has changed for a stream since it has last looked: however slow it is, that is at most the
// names of all Stacks.
type subscriber struct {
	// wake has a value while there is something to look at.
	wake    chan struct{}
	only    client.ObjectKey // of all Stacks if it is empty
	link    bool
	reset   bool
	changed map[client.ObjectKey]struct{}
}

// news is what has changed since the subscriber has last looked.
type news struct {
	status  *status
	reset   bool
	upserts []*v1.Stack
	removed []client.ObjectKey
}

func newHub() *hub {
	return &hub{stacks: map[client.ObjectKey]*v1.Stack{}, lost: map[string]string{}, subscribers: map[*subscriber]struct{}{}}
}

// run watches the Stacks of the namespaces, or of all for the namespace "", until ctx ends. It lists them again after the
// API server was away.
func (h *hub) run(ctx context.Context, api client.WithWatch, namespaces []string) {
	var watches sync.WaitGroup
	for _, namespace := range namespaces {
		reflector := cache.NewReflectorWithOptions(h.source(api, namespace), &v1.Stack{}, stacksOf{h, namespace}, cache.ReflectorOptions{
			Logger: new(logr.Discard()), Name: "stacks",
			Backoff: &wait.Backoff{Duration: 500 * time.Millisecond, Factor: 1.5, Jitter: 0.2, Steps: 20, Cap: 5 * time.Second},
		})
		watches.Go(func() { reflector.RunWithContext(ctx) })
	}
	watches.Wait()
}

// source lists and watches the Stacks, and notes whether that works.
func (h *hub) source(api client.WithWatch, namespace string) cache.ListerWatcher {
	noted := func(err error) error {
		h.setLink(namespace, err)
		return err
	}
	return cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			list := &v1.StackList{}
			err := api.List(ctx, list, client.InNamespace(namespace), &client.ListOptions{Raw: &options})
			return list, noted(err)
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			watcher, err := api.Watch(ctx, &v1.StackList{}, client.InNamespace(namespace), &client.ListOptions{Raw: &options})
			return watcher, noted(err)
		},
	}, plainLists{})
}

// plainLists says that Stacks are listed, and not streamed, at first.
type plainLists struct{}

// IsWatchListSemanticsUnSupported implements what client-go asks a client.
func (plainLists) IsWatchListSemanticsUnSupported() bool { return true }

// setLink notes whether the Stacks of a namespace can be watched. The page shows what the cluster has if all of them can.
func (h *hub) setLink(namespace string, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.lost, namespace)
	if err != nil {
		h.lost[namespace] = bounded.Line(cluster.Explain(err).Error(), maxMessage)
	}
	link := status{Connected: len(h.lost) == 0}
	if !link.Connected {
		// One is enough to read: if the API server is away, they are all alike.
		link.Message = h.lost[slices.Min(slices.Collect(maps.Keys(h.lost)))]
	}
	if h.link == link {
		return
	}
	h.link = link
	for one := range h.subscribers {
		one.link = true
		one.awake()
	}
}

func (s *subscriber) awake() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// subscribe adds a subscriber, of one Stack or of all. It begins with everything there is.
func (h *hub) subscribe(only client.ObjectKey) *subscriber {
	one := &subscriber{wake: make(chan struct{}, 1), only: only, link: true, reset: true, changed: map[client.ObjectKey]struct{}{}}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.subscribers[one] = struct{}{}
	one.awake()
	return one
}

func (h *hub) unsubscribe(one *subscriber) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.subscribers, one)
}

// take returns what has changed for a subscriber of all Stacks. Those it returns must not be changed.
func (h *hub) take(one *subscriber) news {
	h.mu.Lock()
	defer h.mu.Unlock()
	var found news
	if one.link {
		found.status, one.link = new(h.link), false
	}
	if !h.loaded {
		return found
	}
	if one.reset {
		found.reset, one.reset = true, false
		one.changed = keysOf(h.stacks)
	}
	for key := range one.changed {
		if stack, there := h.stacks[key]; there {
			found.upserts = append(found.upserts, stack)
		} else {
			found.removed = append(found.removed, key)
		}
	}
	clear(one.changed)
	slices.SortFunc(found.upserts, func(a, b *v1.Stack) int {
		return compareKeys(client.ObjectKeyFromObject(a), client.ObjectKeyFromObject(b))
	})
	slices.SortFunc(found.removed, compareKeys)
	return found
}

// get returns a Stack, nil if there is none, and whether the Stacks are known at all.
func (h *hub) get(key client.ObjectKey) (stack *v1.Stack, known bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.stacks[key].DeepCopy(), h.loaded
}

// all returns the Stacks by namespace and name, which must not be changed, and the link.
func (h *hub) all() ([]*v1.Stack, status) {
	h.mu.Lock()
	defer h.mu.Unlock()
	stacks := make([]*v1.Stack, 0, len(h.stacks))
	for _, key := range slices.SortedFunc(maps.Keys(h.stacks), compareKeys) {
		stacks = append(stacks, h.stacks[key])
	}
	return stacks, h.link
}

// changed wakes the subscribers. h.mu is held.
func (h *hub) changed(key client.ObjectKey) {
	for one := range h.subscribers {
		if one.only == (client.ObjectKey{}) || one.only == key {
			one.changed[key] = struct{}{}
			one.awake()
		}
	}
}

// stacksOf has what one watch says, which is of a namespace, or of all if that is empty.
type stacksOf struct {
	*hub
	namespace string
}

// Add implements cache.ReflectorStore.
func (s stacksOf) Add(object any) error { return s.Update(object) }

// Update implements cache.ReflectorStore.
func (s stacksOf) Update(object any) error {
	if stack, ok := object.(*v1.Stack); ok {
		s.mu.Lock()
		defer s.mu.Unlock()
		stack.ManagedFields = nil
		s.stacks[client.ObjectKeyFromObject(stack)] = stack
		s.changed(client.ObjectKeyFromObject(stack))
	}
	return nil
}

// Delete implements cache.ReflectorStore.
func (s stacksOf) Delete(object any) error {
	if stack, ok := object.(*v1.Stack); ok {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.stacks, client.ObjectKeyFromObject(stack))
		s.changed(client.ObjectKeyFromObject(stack))
	}
	return nil
}

// Replace implements cache.ReflectorStore.
func (s stacksOf) Replace(objects []any, _ string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := make(map[client.ObjectKey]*v1.Stack, len(objects))
	for _, object := range objects {
		if stack, ok := object.(*v1.Stack); ok {
			stack.ManagedFields = nil
			now[client.ObjectKeyFromObject(stack)] = stack
		}
	}
	for key := range s.stacks {
		if now[key] == nil && (s.namespace == "" || key.Namespace == s.namespace) {
			delete(s.stacks, key)
			s.changed(key)
		}
	}
	for key, stack := range now {
		was := s.stacks[key]
		if s.stacks[key] = stack; was == nil || was.UID != stack.UID || was.ResourceVersion != stack.ResourceVersion {
			s.changed(key)
		}
	}
	s.loaded = true
	for one := range s.subscribers {
		one.awake() // also if nothing has changed: now it is known
	}
	return nil
}

// Resync implements cache.ReflectorStore.
func (stacksOf) Resync() error { return nil }

func keysOf(stacks map[client.ObjectKey]*v1.Stack) map[client.ObjectKey]struct{} {
	keys := make(map[client.ObjectKey]struct{}, len(stacks))
	for key := range stacks {
		keys[key] = struct{}{}
	}
	return keys
}
