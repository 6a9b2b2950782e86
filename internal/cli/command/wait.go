// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/flux-pulumi/pulumi-controller/internal/cli/cluster"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/ready"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/rows"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/table"
)

// redraw is how often the line of progress moves.
const redraw = 100 * time.Millisecond

// target is an object that a command is about.
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

// await looks at the target until done says that it is over, and draws what the
// target says on the way.
func (s *session) await(ctx context.Context, api client.Reader, of target, done func(*unstructured.Unstructured) (bool, error)) (*unstructured.Unstructured, error) {
	defer s.Done()
	began := s.Now()
	var last *unstructured.Unstructured
	for {
		object, err := of.get(ctx, api)
		if err != nil {
			return last, s.explainTimeout(ctx, err, of, last)
		}
		last = object
		if over, err := done(object); over || err != nil {
			return object, err
		}
		text := func() string {
			waited := s.Now().Sub(began).Round(time.Second)
			return fmt.Sprintf("%s %s, %s: %s", of.Kind, of.Name, waited, table.Shorten(rows.Progress(object, s.Now())))
		}
		if err := s.pause(ctx, text); err != nil {
			return last, s.explainTimeout(ctx, err, of, last)
		}
	}
}

// pause waits for one poll interval, and draws progress meanwhile.
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

// explainTimeout adds what the object last said to an error that says no more than
// that the time is over.
func (s *session) explainTimeout(ctx context.Context, err error, of target, last *unstructured.Unstructured) error {
	if last == nil || !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return err
	}
	return fmt.Errorf("timed out after %s waiting for %s %s: %s", s.timeout, of.Kind, of.Name, ready.Message(last))
}
