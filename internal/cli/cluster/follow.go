// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Follower is told of what is followed.
type Follower struct {
	// Tell gets each object that there is, and then each change. An error of it ends all.
	Tell func(watch.EventType, client.Object) error
	// Lost gets why nothing is told for now. It is called once for each time.
	Lost func(error)
	// Pause is how long to wait before the API server is asked again.
	Pause time.Duration
}

// Follow follows the objects of a list until ctx ends. The API server ends a watch from
// time to time, and may go away for a while once there was one: it goes on where that
// ended.
func Follow(ctx context.Context, api client.WithWatch, list client.ObjectList, follower Follower, options ...client.ListOption) error {
	version, watched, lost := "", false, false
	var refused time.Time // since when, after it was lost
	for ctx.Err() == nil {
		from := &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: version}}
		watcher, err := api.Watch(ctx, list, append(options, from)...)
		if err == nil {
			watched, lost, refused = true, false, time.Time{}
			version, err = drain(watcher, version, follower.Tell)
		}
		switch {
		case err == nil, ctx.Err() != nil:
		case apierrors.IsGone(err), apierrors.IsResourceExpired(err):
			version = ""
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

// refusedPatience is for how long an API server that is back may refuse what it has
// allowed: it may not know all roles when it begins to answer.
const refusedPatience = time.Minute

func isRefusal(err error) bool {
	return apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err)
}

// isWatchLost tells whether a watch may be had again. What Tell returns is not of that kind.
func isWatchLost(err error) bool {
	var told *tellError
	return !errors.As(err, &told) && IsPassing(err)
}

type tellError struct{ error }

func (e *tellError) Unwrap() error { return e.error }

func pause(ctx context.Context, length time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(length):
	}
}

// drain returns the version to go on from, also with an error.
func drain(watcher watch.Interface, version string, tell func(watch.EventType, client.Object) error) (string, error) {
	defer watcher.Stop()
	for event := range watcher.ResultChan() {
		switch event.Type {
		case watch.Error:
			return version, apierrors.FromObject(event.Object)
		case watch.Added, watch.Modified, watch.Deleted:
			object, ok := event.Object.(client.Object)
			if !ok {
				continue
			}
			version = object.GetResourceVersion()
			if err := tell(event.Type, object); err != nil {
				return version, &tellError{err}
			}
		}
	}
	return version, nil
}
