// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"github.com/pulumi/pulumi-go-provider/infer"

	"github.com/flux-pulumi/pulumi-controller/tests/lab/internal/cloud"
)

// Args are the inputs of a Thing. An operation goes by the newest inputs that it is given: create and update by those of the
// program, read and delete by those in the state, so a failing delete must be put in the state by an update first.
type Args struct {
	// Name of the thing; a new one replaces it. Required.
	Name string `pulumi:"name" provider:"replaceOnChanges"`
	// Value of the thing, updated in place.
	Value *string `pulumi:"value,optional"`
	// SecretValue is kept in the Pulumi state only (as a secret), never in the cloud or its journal.
	SecretValue *string `pulumi:"secretValue,optional" provider:"secret"`
	// Tags of the thing, updated in place.
	Tags map[string]string `pulumi:"tags,optional"`
	// Delays by operation (create, read, update, delete): Go durations of one hour at most. The change is made at the end of the
	// delay. afterCreate is the time between the making of the thing and the answer to the engine: a provider that is killed in
	// it leaves a thing that Pulumi does not know. A delay is not cut short when the engine cancels: as in a real cloud, what was
	// begun is finished.
	Delays map[string]string `pulumi:"delays,optional"`
	// Failures by operation (create, read, update, delete, and partialCreate, which fails after the thing was made): the error
	// that the operation ends with, after its delay.
	Failures map[string]string `pulumi:"failures,optional"`
	// Hang names the operation that does not end, after its delay, before the engine cancels or the provider is killed.
	Hang *string `pulumi:"hang,optional"`
	// Hold names the operation that does not go on, after its delay, before the cloud has a file "released": what else is to
	// happen in the middle of it happens then however slow the machine is. As a delay it is not cut short by the engine, and ends
	// with an error after an hour. When the engine cancels, or has died, the cloud gets a file "told-to-stop".
	Hold *string `pulumi:"hold,optional"`
	// EchoInput puts SecretValue into the error that a failing operation returns, as careless providers do.
	EchoInput *bool `pulumi:"echoInput,optional"`
}

// State is the outputs of a Thing: the inputs as the cloud has them. The id is the resource's own.
type State struct {
	Args
}

// Annotate describes the inputs in the schema.
func (a *Args) Annotate(annotator infer.Annotator) {
	annotator.Describe(&a.Name, "The name of the thing. A new one replaces it.")
	annotator.Describe(&a.Value, "The value of the thing.")
	annotator.Describe(&a.SecretValue, "A secret, kept in the Pulumi state only.")
	annotator.Describe(&a.Tags, "The tags of the thing.")
	annotator.Describe(&a.Delays, "How long create, read, update, delete and afterCreate (the answer to a create) take, as Go durations.")
	annotator.Describe(&a.Failures, "The errors that create, read, update, delete and partialCreate end with.")
	annotator.Describe(&a.Hang, "The operation (create, read, update or delete) that does not end until it is cancelled.")
	annotator.Describe(&a.Hold, "The operation (create, read, update or delete) that goes on once the cloud has a file named released.")
	annotator.Describe(&a.EchoInput, "Whether a failing operation puts secretValue into its error.")
}

// inCloud is what the cloud keeps of the inputs.
func (a Args) inCloud() cloud.Thing {
	return cloud.Thing{Name: a.Name, Value: a.Value, Tags: a.Tags}
}

// withCloud is the inputs with what the cloud says now.
func (a Args) withCloud(thing cloud.Thing) Args {
	a.Name, a.Value, a.Tags = thing.Name, thing.Value, thing.Tags
	return a
}
