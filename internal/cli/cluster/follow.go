// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Follow calls tell for each object that there is, and then for each change, until ctx
// ends. The API server ends a watch from time to time: it goes on where that ended.
func Follow(ctx context.Context, api client.WithWatch, list client.ObjectList, tell func(watch.EventType, client.Object) error, options ...client.ListOption) error {
	version := ""
	for ctx.Err() == nil {
		from := &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: version}}
		watcher, err := api.Watch(ctx, list, append(options, from)...)
		if apierrors.IsGone(err) || apierrors.IsResourceExpired(err) {
			version = ""
			continue
		}
		if err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return Explain(fmt.Errorf("watching: %w", err))
		}
		version, err = drain(watcher, version, tell)
		if err != nil && ctx.Err() == nil {
			return err
		}
	}
	return nil
}

// drain returns the version to go on from.
func drain(watcher watch.Interface, version string, tell func(watch.EventType, client.Object) error) (string, error) {
	defer watcher.Stop()
	for event := range watcher.ResultChan() {
		switch event.Type {
		case watch.Error:
			err := apierrors.FromObject(event.Object)
			if apierrors.IsGone(err) || apierrors.IsResourceExpired(err) {
				return "", nil
			}
			return "", fmt.Errorf("watching: %w", err)
		case watch.Added, watch.Modified, watch.Deleted:
			object, ok := event.Object.(client.Object)
			if !ok {
				continue
			}
			version = object.GetResourceVersion()
			if err := tell(event.Type, object); err != nil {
				return "", err
			}
		}
	}
	return version, nil
}
