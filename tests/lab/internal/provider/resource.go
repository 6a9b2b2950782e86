// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"context"
	"errors"

	"github.com/pulumi/pulumi-go-provider/infer"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"

	"github.com/flux-pulumi/pulumi-controller/tests/lab/internal/cloud"
)

// Resource is lab:index:Thing.
type Resource struct{}

// Annotate sets the token of the resource; infer would derive it from the Go names.
func (r *Resource) Annotate(a infer.Annotator) {
	a.SetToken("index", "Thing")
	a.Describe(&r, "A thing in the lab cloud.")
}

// Check refuses inputs that could only fail later, so that a preview shows them.
func (Resource) Check(ctx context.Context, req infer.CheckRequest) (infer.CheckResponse[Args], error) {
	args, failures, err := infer.DefaultCheck[Args](ctx, req.NewInputs)
	if err != nil {
		return infer.CheckResponse[Args]{}, err
	}
	if _, named := req.NewInputs.GetOk("name"); !named {
		if args.Name, err = nameOf(ctx, req); err != nil {
			return infer.CheckResponse[Args]{}, err
		}
	}
	if len(failures) == 0 {
		failures = check(args, !req.NewInputs.Get("name").HasComputed())
	}
	return infer.CheckResponse[Args]{Inputs: args, Failures: failures}, nil
}

// nameOf makes up the name of a thing, which keeps it.
func nameOf(ctx context.Context, req infer.CheckRequest) (string, error) {
	if old := req.OldInputs.Get("name"); old.IsString() {
		return old.AsString(), nil
	}
	return resource.NewUniqueName(seedFrom(ctx), req.Name+"-", 7, 0, nil)
}

// Create creates a thing with a new ID. An error once the thing exists is an
// initialisation failure, so that Pulumi records the thing in its state.
func (Resource) Create(
	ctx context.Context, req infer.CreateRequest[Args],
) (infer.CreateResponse[State], error) {
	response := infer.CreateResponse[State]{Output: State{Args: req.Inputs}}
	if req.DryRun {
		return response, nil
	}
	id, err := cloud.NewID(req.Inputs.Name)
	if err != nil {
		return response, err
	}
	operation, err := newOperation(ctx, cloud.Create, id, req.Inputs)
	if err != nil {
		return response, err
	}
	err = operation.run(ctx, func() error { return operation.cloud.Create(id, req.Inputs.inCloud()) })
	if err != nil {
		return response, err
	}
	response.ID = id
	return response, finishCreate(operation)
}

// finishCreate waits between the creation of the thing and the answer to the engine. It
// records "done" first, because the thing exists from then on, whatever becomes of the
// answer.
func finishCreate(operation operation) error {
	message := operation.args.Failures[partialCreate]
	var failure error
	if message != "" {
		failure = operation.echo(errors.New(message))
	}
	if err := errors.Join(failure, operation.done(message), operation.delay(afterCreate)); err != nil {
		return infer.ResourceInitFailedError{Reasons: []string{err.Error()}}
	}
	return nil
}

// Read returns what the cloud has: an edited file is drift, and a missing one is a thing
// that is gone (an empty ID).
func (Resource) Read(
	ctx context.Context, req infer.ReadRequest[Args, State],
) (infer.ReadResponse[Args, State], error) {
	operation, err := newOperation(ctx, cloud.Read, req.ID, req.State.Args)
	if err != nil {
		return infer.ReadResponse[Args, State]{}, err
	}
	response := infer.ReadResponse[Args, State]{}
	err = operation.run(ctx, func() error {
		thing, err := operation.cloud.Read(req.ID)
		if errors.Is(err, cloud.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		response.ID = req.ID
		response.Inputs = req.Inputs.withCloud(thing)
		response.State = State{Args: req.State.withCloud(thing)}
		return nil
	})
	if err != nil {
		return infer.ReadResponse[Args, State]{}, err
	}
	return response, operation.done("")
}

// Update changes a thing in place.
func (Resource) Update(
	ctx context.Context, req infer.UpdateRequest[Args, State],
) (infer.UpdateResponse[State], error) {
	response := infer.UpdateResponse[State]{Output: State{Args: req.Inputs}}
	if req.DryRun {
		return response, nil
	}
	operation, err := newOperation(ctx, cloud.Update, req.ID, req.Inputs)
	if err != nil {
		return response, err
	}
	err = operation.run(ctx, func() error { return operation.cloud.Update(req.ID, req.Inputs.inCloud()) })
	if err != nil {
		return response, err
	}
	return response, operation.done("")
}

// Delete removes a thing. It succeeds if the thing is already gone.
func (Resource) Delete(ctx context.Context, req infer.DeleteRequest[State]) (infer.DeleteResponse, error) {
	operation, err := newOperation(ctx, cloud.Delete, req.ID, req.State.Args)
	if err != nil {
		return infer.DeleteResponse{}, err
	}
	err = operation.run(ctx, func() error { return operation.cloud.Delete(req.ID) })
	if err != nil {
		return infer.DeleteResponse{}, err
	}
	return infer.DeleteResponse{}, operation.done("")
}
