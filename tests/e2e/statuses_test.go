// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	"github.com/fluxcd/pkg/runtime/conditions/check"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/diff"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// statuses checks each status that the controller writes to any Stack, for the lifetime of a world: it also sees
// faults that last a moment only, as a waiting client does. They fail the test, whatever it is about.
type statuses struct {
	cancel context.CancelFunc
	done   chan struct{}

	mu    sync.Mutex
	last  map[types.UID]*v1.Stack
	wrong map[string][]string // by namespace
}

// maxWrong bounds the faults reported for a namespace: the first ones explain the others.
const maxWrong = 5

// watchStatuses must start before the first Stack is created. Stop it before the API server.
func watchStatuses(ctx context.Context, c client.WithWatch) (*statuses, error) {
	ctx, cancel := context.WithCancel(ctx)
	watcher, err := c.Watch(ctx, &v1.StackList{})
	if err != nil {
		cancel()
		return nil, fmt.Errorf("watching the Stacks: %w", err)
	}
	s := &statuses{cancel: cancel, done: make(chan struct{}), last: map[types.UID]*v1.Stack{}, wrong: map[string][]string{}}
	go func() {
		defer close(s.done)
		for event := range watcher.ResultChan() {
			s.see(event)
		}
	}()
	return s, nil
}

// Stop ends the watch.
func (s *statuses) Stop() {
	s.cancel()
	<-s.done
}

// wrongIn returns the faults found in a namespace.
func (s *statuses) wrongIn(namespace string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.wrong[namespace]
}

func (s *statuses) see(event watch.Event) {
	stack, ok := event.Object.(*v1.Stack)
	if !ok {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.last[stack.UID]
	s.last[stack.UID] = stack
	if event.Type == watch.Deleted {
		delete(s.last, stack.UID)
		return
	}
	if before != nil && equality.Semantic.DeepEqual(before.Status, stack.Status) {
		return // someone else wrote it, and the controller has not reacted yet
	}
	for _, fault := range statusFaults(before, stack) {
		if known := s.wrong[stack.Namespace]; len(known) < maxWrong {
			s.wrong[stack.Namespace] = append(known, fmt.Sprintf("Stack %s, version %s, generation %d, observed %d, conditions %s: %s",
				stack.Name, stack.ResourceVersion, stack.Generation, stack.Status.ObservedGeneration, shortConditions(stack), fault))
		}
	}
}

func shortConditions(stack *v1.Stack) string {
	text := ""
	for _, c := range stack.Status.Conditions {
		text += fmt.Sprintf("[%s=%s %s %q at %d]", c.Type, c.Status, c.Reason, c.Message, c.ObservedGeneration)
	}
	return text
}

// statusFaults lists the faults of a status that was just written. before is nil for a new Stack.
func statusFaults(before, stack *v1.Stack) []string {
	if before == nil {
		return unseenFaults(stack)
	}
	return append(append(conditionFaults(stack), kstatusFaults(stack)...), writeFaults(before, stack)...)
}

// unseenFaults: a spec that no controller has seen must not pass for done.
func unseenFaults(stack *v1.Stack) []string {
	if result, err := computed(stack); err != nil || result != status.InProgressStatus {
		return []string{fmt.Sprintf("a new Stack is %s to kstatus (%v)", result, err)}
	}
	return nil
}

// conditionFaults returns the faults that Flux's own checker finds.
func conditionFaults(stack *v1.Stack) []string {
	checker := check.NewInProgressChecker(nil)
	// Not IsReady, which is false for a Stack that is both Ready and Reconciling.
	if conditions.IsTrue(stack, meta.ReadyCondition) {
		checker = check.NewChecker(nil, &check.Conditions{NegativePolarity: []string{meta.StalledCondition, meta.ReconcilingCondition}})
	}
	checker.DisableFetch = true
	failed, warned := checker.Check(context.Background(), stack)
	var faults []string
	if failed != nil && !stack.Spec.Suspend { // in a suspended Stack nothing needs to be up to date
		faults = append(faults, "check failed: "+failed.Error())
	}
	if warned != nil {
		faults = append(faults, "check warned: "+warned.Error())
	}
	return faults
}

// kstatusFaults: clients must keep waiting until the Stack matches its spec, and stop if it never will.
func kstatusFaults(stack *v1.Stack) []string {
	result, err := computed(stack)
	if err != nil {
		return []string{"kstatus: " + err.Error()}
	}
	expected := status.InProgressStatus
	observed := stack.Status.ObservedGeneration == stack.Generation
	switch {
	case !stack.DeletionTimestamp.IsZero():
		expected = status.TerminatingStatus
	case observed && conditions.IsTrue(stack, meta.ReadyCondition) && (stack.Status.Run == nil || !run.KindOfRecord(stack.Status.Run).InConditions):
		expected = status.CurrentStatus
	case observed && conditions.IsStalled(stack) && conditions.IsFalse(stack, meta.ReadyCondition):
		expected = status.FailedStatus
	}
	var faults []string
	if result != expected {
		faults = append(faults, fmt.Sprintf("it is %s to kstatus and should be %s", result, expected))
	}
	if conditions.IsStalled(stack) && !observed {
		faults = append(faults, "it has stalled at a generation that it does not tell, so that nobody stops waiting for it")
	}
	return faults
}

func computed(stack *v1.Stack) (status.Status, error) {
	object, err := apiruntime.DefaultUnstructuredConverter.ToUnstructured(stack)
	if err != nil {
		return "", err
	}
	result, err := status.Compute(&unstructured.Unstructured{Object: object})
	if err != nil {
		return "", err
	}
	return result.Status, nil
}

// progressDelay is the minimum age of a run before its progress may be written.
const progressDelay = 10 * time.Second

// writeFaults: a run is written at its start and its end, and in between only for progress, a cancel request, and what
// a recovery from it would have to know: where it has found the stack, that it has emptied it, and what may exist without
// being in the state.
func writeFaults(before, stack *v1.Stack) []string {
	was, is := before.Status.Run, stack.Status.Run
	if was == nil || is == nil || was.ID != is.ID || was.Holder != is.Holder || was.Cancel != is.Cancel || was.Emptied != is.Emptied {
		return nil
	}
	if !equality.Semantic.DeepEqual(before.Status.ProjectInfo, stack.Status.ProjectInfo) {
		return nil
	}
	if !slices.Equal(before.Status.UnknownCreates, stack.Status.UnknownCreates) {
		return nil
	}
	if age := time.Since(is.StartedAt.Time); age < progressDelay {
		return []string{fmt.Sprintf("it was written to %s after the start of its run:\n%s", age, diff.Diff(before.Status, stack.Status))}
	}
	return nil
}
