// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	"github.com/fluxcd/pkg/apis/meta"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/watch"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

// progress follows the events of a watch until enough Stacks are as they are to
// be, all at the same time.
type progress struct {
	want int
	done func(*v1.Stack) bool
	is   map[string]bool
	// last is the message of a Stack that is not done.
	last string
}

func newProgress(want int, done func(*v1.Stack) bool) *progress {
	return &progress{want: want, done: done, is: map[string]bool{}}
}

// take is true when all Stacks are done. A Stack that failed is an error: its
// retry would be measured as well.
func (p *progress) take(event watch.Event) (bool, error) {
	if event.Type == watch.Error {
		return false, fmt.Errorf("watching Stacks: %w", apierrors.FromObject(event.Object))
	}
	stack, ok := event.Object.(*v1.Stack)
	if !ok {
		return false, nil // a bookmark
	}
	ready := apimeta.FindStatusCondition(stack.Status.Conditions, meta.ReadyCondition)
	if ready != nil && (stack.Status.Failures > 0 || apimeta.IsStatusConditionTrue(stack.Status.Conditions, meta.StalledCondition)) {
		return false, fmt.Errorf("waiting for Stack %s: it failed: %s: %s", stack.Name, ready.Reason, ready.Message)
	}
	if p.done(stack) {
		p.is[stack.Name] = true
	} else {
		delete(p.is, stack.Name)
		if ready != nil {
			p.last = fmt.Sprintf("%s: %s: %s", stack.Name, ready.Reason, ready.Message)
		}
	}
	return len(p.is) == p.want, nil
}

func (p *progress) String() string {
	return fmt.Sprintf("%d of %d Stacks are done; last seen %s", len(p.is), p.want, p.last)
}
