// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/flux-pulumi/pulumi-controller/internal/cli/cluster"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/table"
)

// eventsView selects the events to show, and the namespaces to read them from.
type eventsView struct {
	*session
	// namespaces are read one by one, because few users may read all of them. An empty
	// one means all. The first is the requested one.
	namespaces []string
	shown      func(*corev1.Event) bool

	mu     sync.Mutex
	headed bool
}

// namespacesOf returns the distinct namespaces of the subjects.
func namespacesOf(subjects []subject) []string {
	var namespaces []string
	for _, of := range subjects {
		if !slices.Contains(namespaces, of.namespace) {
			namespaces = append(namespaces, of.namespace)
		}
	}
	return namespaces
}

// withNamespace reports whether the table has a namespace column.
func (v *eventsView) withNamespace() bool { return len(v.namespaces) > 1 || v.namespaces[0] == "" }

// leaveOut warns about a namespace that the user may not read. For the requested
// namespace it returns the error: only the events of a source are optional.
func (v *eventsView) leaveOut(namespace string, err error) error {
	if !apierrors.IsForbidden(err) || namespace == v.namespaces[0] {
		return err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.Warningf("ignoring the events in %s namespace: %v", namespace, err)
	return nil
}

func (v *eventsView) list(ctx context.Context, api client.Reader) error {
	events, err := v.read(ctx, api)
	if err != nil {
		return err
	}
	switch {
	case len(events) == 0 && v.withNamespace():
		v.Failuref("No events found.")
		return nil
	case len(events) == 0:
		v.Failuref("No events found in %s namespace.", v.namespaces[0])
		return nil
	}
	var lines [][]string
	for i := range events {
		lines = append(lines, v.row(&events[i]))
	}
	table.Print(v.Out, v.header(), lines)
	return nil
}

// read returns the events to show, in the order of their times.
func (v *eventsView) read(ctx context.Context, api client.Reader) ([]corev1.Event, error) {
	var events []corev1.Event
	for _, namespace := range v.namespaces {
		found, err := v.listIn(ctx, api, namespace)
		if err := v.leaveOut(namespace, err); err != nil {
			return nil, fmt.Errorf("getting events: %w", err)
		}
		events = append(events, found...)
	}
	slices.SortStableFunc(events, func(a, b corev1.Event) int { return lastSeen(&a).Compare(lastSeen(&b)) })
	return events, nil
}

func (v *eventsView) listIn(ctx context.Context, api client.Reader, namespace string) ([]corev1.Event, error) {
	var events []corev1.Event
	list := &corev1.EventList{}
	for {
		if err := api.List(ctx, list, client.InNamespace(namespace), client.Limit(500), client.Continue(list.Continue)); err != nil {
			return nil, err
		}
		for i := range list.Items {
			if v.shown(&list.Items[i]) {
				events = append(events, list.Items[i])
			}
		}
		if list.Continue == "" {
			return events, nil
		}
	}
}

func (v *eventsView) watch(ctx context.Context, api client.WithWatch) error {
	follower := v.follower(v.tell)
	lost := follower.Lost
	follower.Lost = func(err error) {
		v.mu.Lock()
		defer v.mu.Unlock()
		lost(err)
	}
	group, ctx := errgroup.WithContext(ctx)
	for _, namespace := range v.namespaces {
		group.Go(func() error {
			err := cluster.Follow(ctx, api, &corev1.EventList{}, follower, client.InNamespace(namespace))
			return v.leaveOut(namespace, err)
		})
	}
	return group.Wait()
}

// tell prints the event of a watch notification.
func (v *eventsView) tell(change watch.EventType, object client.Object) error {
	event, ok := object.(*corev1.Event)
	if !ok || change == watch.Deleted || !v.shown(event) {
		return nil
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	var header []string
	if !v.headed {
		header = v.header()
	}
	v.headed = true
	table.Print(v.Out, header, [][]string{v.row(event)})
	return nil
}

func (v *eventsView) header() []string {
	header := []string{"Last seen", "Type", "Reason", "Object", "Message"}
	if v.withNamespace() {
		header = append([]string{"Namespace"}, header...)
	}
	return header
}

func (v *eventsView) row(event *corev1.Event) []string {
	row := []string{v.seen(event), event.Type, event.Reason, event.InvolvedObject.Kind + "/" + event.InvolvedObject.Name, strings.Join(strings.Fields(event.Message), " ")}
	if v.withNamespace() {
		row = append([]string{event.Namespace}, row...)
	}
	return row
}
