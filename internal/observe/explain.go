// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/decide"
	"github.com/flux-pulumi/pulumi-controller/internal/dependency"
	"github.com/flux-pulumi/pulumi-controller/internal/source"
)

// Explanation says what the controller would do with a Stack, and why.
type Explanation struct {
	Decision decide.Decision
	Checks   []decide.Check
	// Values are what a run would get, by kind and name.
	Values []ExplainedValue
	// Unreadable is what the reader may not read. If there is any, the controller may
	// decide otherwise.
	Unreadable []string
	// Unchecked is what could not be checked for another reason.
	Unchecked []string
	// Missing are the values that cannot be resolved.
	Missing []string
	// Unshown is where a run gets values from that are not in Values.
	Unshown []string
}

// ExplainedValue is a value that a run would get. A secret shows as "[secret]".
type ExplainedValue struct {
	// Kind is env or config.
	Kind, Name, Value string
	// From is the field of the spec that sets it.
	From string
}

// Explain observes a Stack like the controller, with the rights of the given client. It
// changes nothing.
func Explain(ctx context.Context, api client.Reader, stack *v1.Stack, options Options, now func() time.Time) (*Explanation, error) {
	o, reader, checks := looksOn(api, options, now)
	seen, err := o.Observe(ctx, stack)
	if err != nil {
		return nil, fmt.Errorf("looking at Stack %s/%s: %w", stack.Namespace, stack.Name, err)
	}
	given, unknown := o.explainInputs(ctx, stack, seen)
	explained := &Explanation{Unchecked: checks.unknown}
	if given.Inputs == nil {
		given.Inputs, explained.Missing = o.resolvePartly(ctx, stack, given.Program)
	}
	explained.Values, explained.Unshown = explainValues(stack, given), unshownValues(stack, given, options.Jobs)
	explained.Unreadable = reader.unreadable()
	if unknown != "" {
		explained.Unchecked = append(explained.Unchecked, unknown)
	}
	explained.Decision, explained.Checks = decide.Explain(seen.Observation)
	for i := range explained.Checks {
		if check := &explained.Checks[i]; check.About == decide.AboutRun && stack.Status.Run != nil {
			check.Found = foundRecorded(stack.Status.Run)
		}
	}
	return explained, nil
}

// looksOn returns an Observer for a reader that is not the controller: with the rights of its
// client, without a cache, an index or a parser of Programs.
func looksOn(api client.Reader, options Options, now func() time.Time) (*Observer, *onlooker, *reportedChecks) {
	reader, checks := &onlooker{Reader: api}, &reportedChecks{}
	options.PartialCache = true // it has neither a cache nor an index
	return &Observer{
		Cached: reader, APIReader: reader, Programs: checks,
		Sources:     source.Resolver{Client: reader, NoCrossNamespaceRefs: options.NoCrossNamespaceRefs},
		PackSources: source.Resolver{Client: reader},
		Expressions: dependency.NewExpressions(1), Now: now, Options: options,
	}, reader, checks
}

// explainInputs also observes the inputs of a Stack that is suspended or has a run in
// flight. The controller skips them, but those are the Stacks that people investigate. It
// returns what keeps the inputs unknown, if anything.
func (o *Observer) explainInputs(ctx context.Context, stack *v1.Stack, seen *Observation) (given *Observation, unknown string) {
	if stack.Status.Run == nil && !seen.Suspended {
		return seen, ""
	}
	given = o.observeStack(stack)
	if err := o.observeInputs(ctx, stack, given); err != nil {
		return given, fmt.Sprintf("the config and the environment of a run: %v", err)
	}
	return given, ""
}

// foundRecorded describes a run as far as it is known without its runner.
func foundRecorded(recorded *v1.RunStatus) string {
	return fmt.Sprintf("%s %s since %s, of the process on %s: only that knows where it stands",
		recorded.Operation, recorded.ID, recorded.StartedAt.UTC().Format(time.RFC3339), recorded.Holder.Host)
}

// onlooker reads, and records what it may not read.
type onlooker struct {
	client.Reader

	mu     sync.Mutex
	denied map[string]bool
}

// Get implements client.Reader.
func (o *onlooker) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	return o.note(o.Reader.Get(ctx, key, object, options...))
}

// List implements client.Reader.
func (o *onlooker) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	return o.note(o.Reader.List(ctx, list, options...))
}

func (o *onlooker) note(err error) error {
	if !apierrors.IsForbidden(err) {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.denied == nil {
		o.denied = map[string]bool{}
	}
	o.denied[err.Error()] = true
	return &deniedToReaderError{err}
}

// deniedToReaderError is what the reader may not read; the controller may.
type deniedToReaderError struct{ error }

func (e *deniedToReaderError) Unwrap() error { return e.error }

func (o *onlooker) unreadable() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Sorted(maps.Keys(o.denied))
}
