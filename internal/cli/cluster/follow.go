// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Follower is notified of the objects that Follow watches.
type Follower struct {
	// Tell gets each object there is, and then each change. Its error ends Follow.
	Tell func(watch.EventType, client.Object) error
	// Lost gets the error that interrupts the watch, once per interruption.
	Lost func(error)
	// Pause is the time before the API server is asked again.
	Pause time.Duration
}

// Follow watches the objects of a list until ctx ends. The API server ends a watch from
// time to time, and may be away for a while after the first one: Follow then continues with
// what has changed since.
func Follow(ctx context.Context, api client.WithWatch, list client.ObjectList, follower Follower, options ...client.ListOption) error {
	known, watched, lost := versions{}, false, false
	var refused time.Time // the start of refusals after a lost watch
	for ctx.Err() == nil {
		watcher, err := api.Watch(ctx, list, options...)
		if err == nil {
			watched, lost, refused = true, false, time.Time{}
			known, err = drain(watcher, known, follower.Tell)
		}
		switch {
		case err == nil, ctx.Err() != nil, apierrors.IsGone(err), apierrors.IsResourceExpired(err):
			pause(ctx, follower.Pause) // a proxy may end each watch at once
		case lost && isRefusal(err) && (refused.IsZero() || time.Since(refused) < refusedPatience):
			if refused.IsZero() {
				refused = time.Now()
			}
			pause(ctx, follower.Pause)
		case !watched || !isWatchLost(err):
			return Explain(fmt.Errorf("watching: %w", err))
		default:
			if !lost {
				follower.Lost(err)
			}
			lost = true
			pause(ctx, follower.Pause)
		}
	}
	return nil
}

// refusedPatience is how long an API server that has restarted may refuse what it allowed
// before: it may answer before it knows all roles.
const refusedPatience = time.Minute

func isRefusal(err error) bool {
	return apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err)
}

// isWatchLost reports whether the watch can be resumed. An error of Tell cannot.
func isWatchLost(err error) bool {
	var failed *passError
	return !errors.As(err, &failed) && IsPassing(err)
}

type passError struct{ error }

func (e *passError) Unwrap() error { return e.error }

func pause(ctx context.Context, length time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(length):
	}
}

// versions maps each object to the last version that was passed on. Each watch begins with
// all objects there are, in no order, so no version says what is still to come after it.
type versions map[types.UID]string

// has reports whether this version of the object, or a later one, was passed on.
func (t versions) has(object client.Object) bool {
	version, ok := t[object.GetUID()]
	if !ok {
		return false
	}
	order, err := resourceversion.CompareResourceVersion(object.GetResourceVersion(), version)
	return err == nil && order <= 0
}

// drain passes on what is new, and returns what is then known. A watch that ends without
// an error has shown all objects there are, so it drops all others.
func drain(watcher watch.Interface, known versions, pass func(watch.EventType, client.Object) error) (versions, error) {
	defer watcher.Stop()
	seen := versions{}
	for event := range watcher.ResultChan() {
		switch event.Type {
		case watch.Error:
			maps.Copy(known, seen)
			return known, apierrors.FromObject(event.Object)
		case watch.Added, watch.Modified, watch.Deleted:
			object, ok := event.Object.(client.Object)
			if !ok {
				continue
			}
			id := object.GetUID()
			switch {
			case event.Type == watch.Deleted:
				delete(seen, id)
				delete(known, id)
			case known.has(object):
				seen[id] = known[id]
				continue
			default:
				seen[id] = object.GetResourceVersion()
			}
			if err := pass(event.Type, object); err != nil {
				return known, &passError{err}
			}
		}
	}
	return seen, nil
}
