// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

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
	"github.com/flux-pulumi/pulumi-controller/internal/run"
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

// ExplainOptions are the controller flags that make a difference.
type ExplainOptions struct {
	DefaultServiceAccount string
	NoCrossNamespaceRefs  bool
	// Jobs says that runs are Jobs, so that spec.workspaceTemplate applies.
	Jobs bool
	Now  func() time.Time
}

// Explain observes a Stack like the controller, with the rights of the given client. It
// changes nothing.
func Explain(ctx context.Context, api client.Client, stack *v1.Stack, options ExplainOptions) (*Explanation, error) {
	reader, checks := &onlooker{Client: api}, &toldChecks{}
	r := &StackReconciler{
		Client: reader, APIReader: reader, Runner: noRunner{unproven: "this controller does not look for Jobs"}, Holders: nobody{},
		Sources:              source.Resolver{Client: reader, NoCrossNamespaceRefs: options.NoCrossNamespaceRefs},
		NoCrossNamespaceRefs: options.NoCrossNamespaceRefs, DefaultServiceAccount: options.DefaultServiceAccount,
		Jitter: func(d time.Duration) time.Duration { return d }, Now: options.Now,
		expressions: dependency.NewExpressions(1), checks: checks,
		PartialCache: true, // it has neither a cache nor an index
	}
	if options.Jobs {
		r.Jobs, r.Runner = noJobs{}, noRunner{}
	}
	seen, err := r.observe(ctx, stack)
	if err != nil {
		return nil, fmt.Errorf("looking at Stack %s/%s: %w", stack.Namespace, stack.Name, err)
	}
	given, unknown := r.explainInputs(ctx, stack, seen)
	explained := &Explanation{Unchecked: checks.unknown}
	if given.inputs == nil {
		given.inputs, explained.Missing = r.resolvePartly(ctx, stack, given.program)
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

// explainInputs also observes the inputs of a Stack that is suspended or has a run in
// flight. The controller skips them, but those are the Stacks that people investigate. It
// returns what keeps the inputs unknown, if anything.
func (r *StackReconciler) explainInputs(ctx context.Context, stack *v1.Stack, seen *observed) (given *observed, unknown string) {
	if stack.Status.Run == nil && !seen.Suspended {
		return seen, ""
	}
	given = r.observeStack(stack)
	if err := r.observeInputs(ctx, stack, given); err != nil {
		return given, fmt.Sprintf("the config and the environment of a run: %v", err)
	}
	return given, ""
}

// foundRecorded describes a run as far as it is known without its runner.
func foundRecorded(recorded *v1.RunStatus) string {
	return fmt.Sprintf("%s %s since %s, of the process on %s: only that knows where it stands",
		recorded.Operation, recorded.ID, recorded.StartedAt.UTC().Format(time.RFC3339), recorded.Holder.Host)
}

// onlooker is a read-only client that records what it may not read.
type onlooker struct {
	client.Client

	mu     sync.Mutex
	denied map[string]bool
}

// Get implements client.Reader.
func (o *onlooker) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	return o.note(o.Client.Get(ctx, key, object, options...))
}

// List implements client.Reader.
func (o *onlooker) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	return o.note(o.Client.List(ctx, list, options...))
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

// noRunner knows no runs: those in flight belong to the controller.
type noRunner struct {
	run.Runner
	unproven string
}

func (noRunner) Look(run.Ref) (run.Phase, *run.Result) { return run.Unknown, nil }
func (r noRunner) Report(run.Ref) run.Report           { return run.Report{Unproven: r.unproven} }

// noJobs knows no Jobs, and only the controller can ask the API server for the rest.
type noJobs struct{ Jobs }

func (noJobs) Check(run.Run) error                                 { return nil }
func (noJobs) NamespaceEnds(context.Context, string) (bool, error) { return false, nil }

// nobody proves nothing.
type nobody struct{}

func (nobody) Gone(context.Context, v1.RunHolder, time.Time) (bool, error) { return false, nil }
