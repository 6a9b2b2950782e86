// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"github.com/pulumi/pulumi-go-provider/infer"
	"github.com/pulumi/pulumi-go-provider/infer/types"

	"github.com/flux-pulumi/pulumi-controller/tests/lab/internal/cloud"
)

// Args are the inputs of a Thing. Each operation uses the newest inputs it is given:
// create and update those of the program, read and delete those of the state. So a
// failing delete must first get into the state by an update.
type Args struct {
	// Name of the thing. A new name replaces it. Without one, the provider makes one up, as real
	// ones do: from the name of the resource and the random seed of the engine.
	Name string `pulumi:"name,optional" provider:"replaceOnChanges"`
	// Value of the thing, updated in place.
	Value *string `pulumi:"value,optional"`
	// SecretValue is kept only in the Pulumi state (as a secret), never in the cloud or
	// its journal.
	SecretValue *string `pulumi:"secretValue,optional" provider:"secret"`
	// Tags of the thing, updated in place.
	Tags map[string]string `pulumi:"tags,optional"`
	// Files of the thing: an asset or an archive, kept only in the Pulumi state.
	Files *types.AssetOrArchive `pulumi:"files,optional"`
	// Delays by operation (create, read, update, delete): Go durations of at most one
	// hour. The change is made after the delay. afterCreate delays the answer to the
	// engine once the thing exists: a provider that is killed then leaves a thing that
	// Pulumi does not know. As in a real cloud, the engine cannot cut a delay short by
	// cancelling: what has started is finished.
	Delays map[string]string `pulumi:"delays,optional"`
	// Ballast by operation (create, read, update, delete): how much memory, such as
	// 512Mi and at most 4096Mi, the provider takes while the operation lasts. A limit of
	// memory then kills it in the middle.
	Ballast map[string]string `pulumi:"ballast,optional"`
	// Failures by operation (create, read, update, delete, and partialCreate, which fails
	// once the thing exists): the error with which the operation ends, after its delay.
	Failures map[string]string `pulumi:"failures,optional"`
	// Hang names the operation that, after its delay, hangs until the engine cancels or
	// the provider is killed.
	Hang *string `pulumi:"hang,optional"`
	// Hold names the operation that, after its delay, waits until the cloud has a file
	// "released", so that a test can act in the middle of it on a machine of any speed.
	// Like a delay, the engine cannot cut it short; it ends with an error after an hour.
	// When the engine cancels, or has died, the cloud gets a file "told-to-stop".
	Hold *string `pulumi:"hold,optional"`
	// Warnings by operation (create, read, update, delete), which the provider logs.
	Warnings map[string]string `pulumi:"warnings,optional"`
	// EchoInput puts SecretValue into the error of a failing operation, and into warnings,
	// as careless providers do.
	EchoInput *bool `pulumi:"echoInput,optional"`
}

// State is the outputs of a Thing: the inputs as the cloud has them. The ID is the
// resource's own.
type State struct {
	Args
}

// Annotate describes the inputs in the schema.
func (a *Args) Annotate(annotator infer.Annotator) {
	annotator.Describe(&a.Name, "The name of the thing. A new one replaces it. Made up if there is none.")
	annotator.Describe(&a.Value, "The value of the thing.")
	annotator.Describe(&a.SecretValue, "A secret, kept in the Pulumi state only.")
	annotator.Describe(&a.Tags, "The tags of the thing.")
	annotator.Describe(&a.Files, "An asset or an archive, kept in the Pulumi state only.")
	annotator.Describe(&a.Delays, "How long create, read, update, delete and afterCreate (the answer to a create) take, as Go durations.")
	annotator.Describe(&a.Ballast, "How much memory, such as 512Mi, create, read, update and delete take.")
	annotator.Describe(&a.Failures, "The errors that create, read, update, delete and partialCreate end with.")
	annotator.Describe(&a.Hang, "The operation (create, read, update or delete) that does not end until it is cancelled.")
	annotator.Describe(&a.Hold, "The operation (create, read, update or delete) that continues once the cloud has a file named released.")
	annotator.Describe(&a.Warnings, "The warnings that create, read, update and delete log.")
	annotator.Describe(&a.EchoInput, "Whether a failing operation, and warnings, show secretValue.")
}

// inCloud returns what the cloud keeps of the inputs.
func (a Args) inCloud() cloud.Thing {
	return cloud.Thing{Name: a.Name, Value: a.Value, Tags: a.Tags}
}

// withCloud returns the inputs with the current values of the cloud.
func (a Args) withCloud(thing cloud.Thing) Args {
	a.Name, a.Value, a.Tags = thing.Name, thing.Value, thing.Tags
	return a
}
