// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"

	"golang.org/x/sync/errgroup"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/inputs"
)

// twinsAtATime is how many Stacks are made at a time.
const twinsAtATime = 8

// makeTwins makes the other Stacks of a round whose first is Ready, with the
// status that a run of each would have left: a thousand runs would take far longer
// than all that is measured. No controller may be there, since it would see a
// Stack before its status. That these are in sync is for the controller to say.
func (s *controllerSide) makeTwins(ctx context.Context, stacks int) error {
	first := &v1.Stack{}
	if err := s.system.Get(ctx, client.ObjectKey{Namespace: s.namespace, Name: stackName(0)}, first); err != nil {
		return fmt.Errorf("reading the Stack that was run: %w", err)
	}
	digest, err := s.digests(ctx, first)
	if err != nil {
		return err
	}
	making, ctx := errgroup.WithContext(ctx)
	making.SetLimit(twinsAtATime)
	for n := 1; n < stacks; n++ {
		making.Go(func() error { return s.makeTwin(ctx, n, first, digest) })
	}
	s.stacks = stacks
	return making.Wait()
}

func (s *controllerSide) makeTwin(ctx context.Context, n int, first *v1.Stack, digest func(*v1.Stack) string) error {
	twin := s.stack(n)
	twin.Finalizers = first.Finalizers
	status, err := statusOfTwin(first.Status, digest(twin))
	if err != nil {
		return err
	}
	if err := s.system.Create(ctx, twin); err != nil {
		return fmt.Errorf("making Stack %s: %w", twin.Name, err)
	}
	twin.Status = status
	if err := s.system.Status().Update(ctx, twin); err != nil {
		return fmt.Errorf("writing the status of Stack %s: %w", twin.Name, err)
	}
	return nil
}

// digests returns what computes the digest of the inputs of a Stack as the
// controller does, which it proves with the one that was run. They have the values
// and the program in common, but not the name of the stack.
func (s *controllerSide) digests(ctx context.Context, run *v1.Stack) (func(*v1.Stack) string, error) {
	values, err := inputs.Resolve(ctx, s.system, run, inputs.Options{NoCrossNamespaceRefs: true})
	if err != nil {
		return nil, fmt.Errorf("resolving the values of the Stacks: %w", err)
	}
	spec, err := program(beforeTheEdit)
	if err != nil {
		return nil, err
	}
	text, err := spec.Text()
	if err != nil {
		return nil, fmt.Errorf("writing the program: %w", err)
	}
	digest := func(stack *v1.Stack) string {
		return inputs.RunDigest(inputs.RunInputs{
			ProgramDigest: fmt.Sprintf("sha256:%x", sha256.Sum256(text)),
			Project:       programName,
			Stack:         stack.Spec.Stack,
			Backend:       stack.Spec.Backend,
			Inputs:        values.Digest,
		})
	}
	if want := run.Status.LastAppliedDigest; digest(run) != want {
		return nil, fmt.Errorf("the controller computes digest %s for Stack %s, and this program %s: it must compute it alike", want, run.Name, digest(run))
	}
	return digest, nil
}

// statusOfTwin is the status with another digest, wherever it has one.
func statusOfTwin(status v1.StackStatus, digest string) (v1.StackStatus, error) {
	var twin v1.StackStatus
	text, err := json.Marshal(status)
	if err != nil {
		return twin, fmt.Errorf("writing a status: %w", err)
	}
	if err := json.Unmarshal([]byte(strings.ReplaceAll(string(text), status.LastAppliedDigest, digest)), &twin); err != nil {
		return twin, fmt.Errorf("reading a status: %w", err)
	}
	return twin, nil
}
