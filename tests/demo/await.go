// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/process"
)

const (
	stepTimeout    = 4 * time.Minute
	explainTimeout = 5 * time.Second
	pollInterval   = 200 * time.Millisecond
)

// await shows the Stacks as they change until done says so. It fails when the
// time is up, when a Stack fails, and when the controller ends.
func (d *demo) await(ctx context.Context, what string, done func([]v1.Stack) bool) error {
	ctx, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	defer d.screen.endTable()
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		stacks := &v1.StackList{}
		if err := d.system.List(ctx, stacks, client.InNamespace(namespace)); err != nil {
			return fmt.Errorf("waiting for %s: %w", what, err)
		}
		d.screen.show(rowsOf(stacks.Items))
		if done(stacks.Items) {
			return nil
		}
		err := failed(stacks.Items)
		select {
		case <-tick.C:
		case <-d.system.Controller.Done():
			err = errors.Join(errors.New("the controller ended"), d.system.Controller.Wait())
		case <-ctx.Done():
			err = fmt.Errorf("it did not come in %s: %w", stepTimeout, ctx.Err())
		}
		if err != nil {
			return d.explained(ctx, fmt.Errorf("waiting for %s: %w", what, err))
		}
	}
}

// applied says that a Stack is Ready at a revision that contains the text.
func applied(name, revision string) func([]v1.Stack) bool {
	return func(stacks []v1.Stack) bool {
		stack := find(stacks, name)
		return stack != nil && strings.Contains(stack.Status.LastAppliedRevision, revision) &&
			apimeta.IsStatusConditionTrue(stack.Status.Conditions, meta.ReadyCondition)
	}
}

// gone says that there is no such Stack.
func gone(name string) func([]v1.Stack) bool {
	return func(stacks []v1.Stack) bool { return find(stacks, name) == nil }
}

func find(stacks []v1.Stack, name string) *v1.Stack {
	for i := range stacks {
		if stacks[i].Name == name {
			return &stacks[i]
		}
	}
	return nil
}

// failed returns an error when a Stack has come to what the demo never comes to.
// What is only tried again, such as a source that is not ready, is waited for.
func failed(stacks []v1.Stack) error {
	for _, stack := range stacks {
		ready := apimeta.FindStatusCondition(stack.Status.Conditions, meta.ReadyCondition)
		if ready == nil {
			continue
		}
		stalled := apimeta.IsStatusConditionTrue(stack.Status.Conditions, meta.StalledCondition)
		if stalled || ready.Reason == v1.UpdateFailedReason || ready.Reason == v1.DestroyFailedReason {
			return fmt.Errorf("the Stack %s has failed: %s: %s", stack.Name, ready.Reason, ready.Message)
		}
	}
	return nil
}

// explained adds the end of the log that has the cause: source-controller's when
// the source is not ready, and otherwise this controller's.
func (d *demo) explained(ctx context.Context, err error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), explainTimeout)
	defer cancel()
	source := &sourcev1.GitRepository{}
	culprit := d.system.Controller
	getErr := d.system.Get(ctx, client.ObjectKey{Namespace: namespace, Name: gitStack}, source)
	if getErr != nil || !apimeta.IsStatusConditionTrue(source.Status.Conditions, meta.ReadyCondition) {
		culprit = d.system.SourceController.Process
	}
	return errors.Join(err, getErr, endOfLog(culprit))
}

func endOfLog(p *process.Process) error {
	return fmt.Errorf("the end of the log of %s:\n%s", p.Name(), p.LogTail())
}
