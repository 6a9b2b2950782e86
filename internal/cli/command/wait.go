// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/flux-pulumi/pulumi-controller/internal/cli/cluster"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/ready"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/rows"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/table"
)

// redraw is the interval at which the progress line moves.
const redraw = 100 * time.Millisecond

// target identifies the object that a command works on.
type target struct {
	schema.GroupVersionKind
	client.ObjectKey
}

func (t target) get(ctx context.Context, api client.Reader) (*unstructured.Unstructured, error) {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(t.GroupVersionKind)
	if err := api.Get(ctx, t.ObjectKey, object); err != nil {
		return nil, cluster.Explain(err)
	}
	return object, nil
}

// verdict reports from an object whether the wait is over.
type verdict func(*unstructured.Unstructured) (bool, error)

// awaited is a target that is waited for, as first and last seen.
type awaited struct {
	target
	began       time.Time
	first, last *unstructured.Unstructured
}

// await polls the target until done reports the end, and draws its progress meanwhile.
func (s *session) await(ctx context.Context, api client.Reader, of target, done verdict) (last *unstructured.Unstructured, err error) {
	s.awaitEach(ctx, api, []target{of}, done, func(_ target, object *unstructured.Unstructured, failure error) {
		last, err = object, failure
	})
	return last, err
}

// awaitEach polls all targets in turn, and reports each as soon as it is done, with the
// object as last seen.
func (s *session) awaitEach(ctx context.Context, api client.Reader, targets []target, done verdict, tell func(target, *unstructured.Unstructured, error)) {
	defer s.Done()
	began := s.Now()
	var left []*awaited
	for _, of := range targets {
		left = append(left, &awaited{target: of, began: began})
	}
	for {
		left = slices.DeleteFunc(left, func(one *awaited) bool {
			object, err := one.get(ctx, api)
			if err != nil {
				tell(one.target, one.last, s.explainTimeout(ctx, err, one))
				return true
			}
			if one.last = object; one.first == nil {
				one.first = object
			}
			over, err := done(object)
			if over || err != nil {
				tell(one.target, object, err)
			}
			return over || err != nil
		})
		if len(left) == 0 {
			return
		}
		text := func() string { return s.waitingText(left, began) }
		if err := s.pause(ctx, text); err != nil {
			for _, one := range left {
				tell(one.target, one.last, s.explainTimeout(ctx, err, one))
			}
			return
		}
	}
}

// waitingText describes the first target that is waited for, and counts the others.
func (s *session) waitingText(left []*awaited, began time.Time) string {
	of, more := left[0], ""
	if len(left) > 1 {
		more = fmt.Sprintf(" and %d more", len(left)-1)
	}
	waited := s.Now().Sub(began).Round(time.Second)
	return fmt.Sprintf("%s %s%s, %s: %s", of.Kind, of.Name, more, waited, table.Shorten(rows.Progress(of.last, s.Now())))
}

// isGone reports whether a wait ended because an object in deletion is gone. If that
// meant a destroy, the destroy has succeeded.
func isGone(last *unstructured.Unstructured, err error) bool {
	return apierrors.IsNotFound(err) && last != nil && last.GetDeletionTimestamp() != nil
}

// pause waits for one poll interval and draws progress meanwhile.
func (s *session) pause(ctx context.Context, text func() string) error {
	end := time.NewTimer(s.PollInterval)
	defer end.Stop()
	tick := time.NewTicker(min(redraw, s.PollInterval))
	defer tick.Stop()
	for {
		s.Progress(text())
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-end.C:
			return nil
		case <-tick.C:
		}
	}
}

// explainTimeout adds the last message of the object to an error that only says that time
// is up.
func (s *session) explainTimeout(ctx context.Context, err error, of *awaited) error {
	last := of.last
	if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return err
	}
	if last == nil {
		return fmt.Errorf("timed out after %s waiting for %s %s: reading it failed", s.timeout, of.Kind, of.Name)
	}
	if !ready.TakenUp(last) {
		return fmt.Errorf("timed out after %s waiting for %s %s: the request was not handled, for the reason in its last status or because no controller is running. Last status: %s",
			s.timeout, of.Kind, of.Name, ready.Message(last))
	}
	if id := ready.Unheard(of.first, last, s.Now().Sub(of.began)); id != "" {
		return fmt.Errorf("timed out after %s waiting for %s %s: run %s was already in flight, and its controller reported nothing about it since. Last status: %s",
			s.timeout, of.Kind, of.Name, id, ready.Message(last))
	}
	says := ready.Message(last)
	if waits := rows.PreviewWait(last); waits != "" {
		says = waits
	}
	return fmt.Errorf("timed out after %s waiting for %s %s: %s", s.timeout, of.Kind, of.Name, says)
}
