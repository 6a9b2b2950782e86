// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package run says what a run of Pulumi is: the Run (what to do), the Result
// (what happened) and the Runner (where it is done). The packages below it are
// the places. No client, no process and no file is touched here.
package run

import (
	"encoding/json"
	"errors"
	"time"
)

// Operation is what a run does.
type Operation string

const (
	// Update makes reality what the program says: pulumi up.
	Update Operation = "update"
	// Destroy deletes everything the stack manages and then the stack itself:
	// pulumi destroy --remove. It works from the state of the stack alone.
	Destroy Operation = "destroy"
	// Recover finds out what an interrupted run has left behind, and heals it:
	// processes that live on, the lock of the stack, and the operations that were
	// in flight.
	Recover Operation = "recover"
	// Preview finds out what an Update would do, and changes nothing: pulumi
	// preview.
	Preview Operation = "preview"
	// ReadOutputs reads the outputs of the stack, secret ones in plain, and changes
	// nothing: pulumi stack output.
	ReadOutputs Operation = "outputs"
)

// Run is all that is needed to do one run. It holds secrets: it is never
// logged, and never written but to a place only its runner can read.
type Run struct {
	// ID names the run. Starting the same ID twice is adopting it.
	ID string
	// Namespace and Name of the Stack.
	Namespace, Name string
	// UID of the object of the Stack, which owns what is made in the cluster for the
	// run.
	UID string
	// Operation to do.
	Operation Operation
	// Revision of the program, for the log.
	Revision string
	// Stack as the spec names it: <stack>, <org>/<stack> or
	// <org>/<project>/<stack>.
	Stack string
	// Backend is the URL of the backend.
	Backend string
	// BackendKey is a secret that is the key of the digest which is told in place of
	// a backend that a Secret names. Empty where none does.
	BackendKey string
	// Project is the project's name and runtime where the program does not
	// bring a Pulumi.yaml: for a Program, and for a Destroy.
	Project Project
	// Program to run. A Destroy needs none without Options.RunProgram.
	Program Program
	// Env are the environment variables that the spec asks for.
	Env map[string]string
	// Config are the plain config values, by key.
	Config map[string]json.RawMessage
	// Secrets are the secret config values, by key.
	Secrets map[string]string
	// Masks are the values that no text of the Result may show.
	Masks []string
	// LateMasks returns more of them, which came up after the run was started. It
	// may be called at any time, and nil is none.
	LateMasks func() []string `json:"-"`
	// Abort is closed when a run that is cancelled is not to wait for the operations in
	// flight any more. Nil never is.
	Abort <-chan struct{} `json:"-"`
	// SecretsProvider is how the secrets of the stack are to be encrypted:
	// passphrase, default, or the URL of a key. Empty leaves that to the program and
	// the state.
	SecretsProvider string
	// Environments of Pulumi ESC whose values the stack has, beside those that the
	// program names.
	Environments []string
	// Account is the service account whose rights in the cluster the program has.
	// Without a name there is none.
	Account ServiceAccount
	// Options say how the operation is done.
	Options Options
	// Steps has a Preview tell what it would do to each resource.
	Steps bool
	// Outputs are wanted in plain, from ReadOutputs or from an Update that succeeds.
	// Nil is none.
	Outputs *WantedOutputs
	// Exists says that the stack is known to be in the backend, which saves
	// asking for it. It may be wrong.
	Exists bool
	// Interrupted are the runs to recover from: one, and the recoveries from it that
	// were interrupted themselves. There is none where a Recover is only to clear
	// what is pending.
	Interrupted []Interrupted
	// UnknownCreates are the creations of unknown outcome that are known already,
	// as URNs.
	UnknownCreates []string
	// ClearPendingCreates has a Recover forget creations of unknown outcome, where all
	// that it finds are in UnknownCreates. Otherwise it forgets none and tells of all: what
	// it has cleared in the state nobody could name any more, if it did not live to tell.
	ClearPendingCreates bool
	// Known is the project of the last update that succeeded. Where there was one
	// the stack must be in the backend, and the project must be the same: anything
	// else is another stack, and this one would be left behind with all that it
	// manages. The controller leaves it out where a destroy of its own was interrupted
	// that may have removed the stack.
	Known Project
	// KnownBackend is the Result.Backend of the last run that had one. Where it is
	// another than that of this run, a stack that is not found has not gone.
	KnownBackend string
	// MustExist says that another controller has updated the stack, which no run of
	// this one has found yet: where it is not in the backend, that is not the one.
	MustExist bool
	// Look says that no run of this controller has found the stack yet. Where it is
	// there all the same, somebody else may have been at work on it and have died in
	// that: what was in flight is settled before anything is done, and where creations
	// of unknown outcome are among it, the run ends with those named.
	Look bool
	// NoCreate has an Update fail where the stack is not in the backend.
	NoCreate bool
	// MayBeGone says of a Recover that the stack is to be destroyed, or was about
	// to be, so that it is no fault where it is not there any more.
	MayBeGone bool
	// Timeout bounds the run. When it has passed, the run is cancelled gently.
	Timeout time.Duration
	// Workspace is spec.workspaceTemplate, for a Runner that has pods. Empty is none.
	Workspace json.RawMessage `json:",omitempty"`
}

// Options say how an operation is done.
type Options struct {
	// Refresh reads what really exists before an Update, a Preview or a Destroy.
	Refresh bool
	// ExpectNoRefreshChanges ends an Update or a Preview as Drifted, before
	// anything is changed, when the refresh would find changes. It does nothing
	// without Refresh.
	ExpectNoRefreshChanges bool
	// Targets are the URNs of the only resources that an Update or a Preview is
	// about. None means all.
	Targets []string
	// TargetDependents adds what depends on the targets.
	TargetDependents bool
	// RunProgram runs the program also in a Destroy, a Recover and a refresh.
	RunProgram bool
}

// RunsProgram tells whether the program is run, so that it and its config are
// needed. Anything else works from the state alone.
func (r Run) RunsProgram() bool {
	return r.Operation == Update || r.Operation == Preview || (r.Options.RunProgram && r.Operation != ReadOutputs)
}

// NeedsArtifact tells whether the run cannot do without the artifact of its
// program. What works from the state needs it only to learn the project's name.
func (r Run) NeedsArtifact() bool {
	return r.Program.Artifact != nil && (r.RunsProgram() || r.Project.Name == "")
}

// WantedOutputs are the outputs that are wanted in plain.
type WantedOutputs struct {
	// Keys are the names of the outputs. None means all.
	Keys []string
}

// PlainOutputs are outputs with their secrets. They live in memory alone: nothing
// of them may be shown, or kept in a file.
type PlainOutputs struct {
	// Wanted is what was asked for. Outputs that the stack does not have are left
	// out.
	Wanted WantedOutputs
	// Values by name, in JSON.
	Values map[string]json.RawMessage
}

// Interrupted is a run that was ended by force, or whose end nobody has seen.
type Interrupted struct {
	// ID of the run.
	ID string
	// Operation that it was to do.
	Operation Operation
	// Host that it was on. Its holder is proven to be gone, or has itself seen that
	// Pulumi was ended by force, and lives on.
	Host string
	// Place is where that holder was, as seen from this process.
	Place Place
	// From and To bound the run, zero where that is not known: when it was recorded,
	// and when it was found to have been interrupted.
	From, To time.Time
}

// Place is where a process was.
type Place string

const (
	// Elsewhere is on another host, or where nothing is known of it.
	Elsewhere Place = ""
	// Here is in this boot of this host, and in the PID namespace of this process.
	Here Place = "Here"
	// BeforeBoot is on a host of this name, before it was booted.
	BeforeBoot Place = "BeforeBoot"
)

// Project is what Pulumi.yaml says of a project.
type Project struct {
	Name    string
	Runtime string
}

// Program is where the program of a run comes from: exactly one of Artifact and
// YAML is set.
type Program struct {
	// Artifact of a Flux source.
	Artifact *Artifact
	// YAML is the text of a Program, in Pulumi YAML.
	YAML []byte
	// Config are the values that a Program gives to providers, such as aws:region,
	// where the Stack gives none.
	Config map[string]any
	// Packages are the versions of packages that a Program asks for, by name.
	Packages map[string]string
}

// Artifact of a Flux source and the directory in it that holds the program.
type Artifact struct {
	// URL to download the archive from.
	URL string
	// Digest the archive must have, as <algorithm>:<checksum>.
	Digest string
	// Dir is relative to the root of the archive.
	Dir string
	// Archive is the archive itself, where somebody has brought it. There is no URL
	// then.
	Archive []byte `json:",omitempty"`
}

// Outcome is how a run ended.
type Outcome string

const (
	// Succeeded is a run that did all it was to do.
	Succeeded Outcome = "Succeeded"
	// Failed is a run that Pulumi, or the program, failed.
	Failed Outcome = "Failed"
	// Locked is a run that did nothing because somebody else holds the lock of
	// the stack.
	Locked Outcome = "Locked"
	// Drifted is a run that did nothing because something was changed behind
	// Pulumi's back, and no such change is expected.
	Drifted Outcome = "Drifted"
	// BackendUnavailable is a run that did nothing because its backend could not
	// be reached, or cannot serve now. That may pass by itself.
	BackendUnavailable Outcome = "BackendUnavailable"
	// RegistryUnavailable is a run that touched no resource because a plugin could
	// not be downloaded. That may pass by itself.
	RegistryUnavailable Outcome = "RegistryUnavailable"
	// ArtifactFailed is a run whose program could not be brought here: gone,
	// damaged, too big, or without the directory asked for.
	ArtifactFailed Outcome = "ArtifactFailed"
	// WorkspaceFailed is a run that could not be prepared: no space, or a
	// directory that cannot be written.
	WorkspaceFailed Outcome = "WorkspaceFailed"
	// AccountFailed is a run that did nothing because no token could be had for its
	// service account. That may pass by itself.
	AccountFailed Outcome = "AccountFailed"
	// TimedOut is a run that was cancelled because its timeout had passed.
	TimedOut Outcome = "TimedOut"
	// Cancelled is a run that was cancelled for any other cause, such as the
	// end of the controller.
	Cancelled Outcome = "Cancelled"
	// PodFailed is a run whose pod could not be started, or did not live to its end.
	// With Result.Interrupted, Pulumi may have been at work.
	PodFailed Outcome = "PodFailed"
)

// Outcomes lists all there are.
func Outcomes() []Outcome {
	return []Outcome{
		Succeeded, Failed, Locked, Drifted, BackendUnavailable, RegistryUnavailable, ArtifactFailed, WorkspaceFailed,
		AccountFailed, TimedOut, Cancelled, PodFailed,
	}
}

// Changes counts resources by what the run did to them. The stack's own entry
// is not counted.
type Changes struct {
	Created, Updated, Deleted, Replaced, Same int
}

// Progress is how far a run has come.
type Progress struct {
	// Done are the changes so far. Of a Preview, those that an Update would make.
	Done Changes
	// InFlight counts the operations on resources that have begun and not ended.
	InFlight int
	// Waiting tells what the run waits for that has not begun, for a person. Empty
	// where that is nothing.
	Waiting string `json:",omitempty"`
}

// Result is what happened in a run. Its texts are bounded and masked: a Result
// may be shown, but for Plain.
type Result struct {
	Outcome Outcome
	// Message tells a person what failed: Pulumi's first error. Empty for a run
	// that succeeded.
	Message string `json:",omitempty"`
	// Outputs of the stack, a secret one as the string "[secret]". Nil unless
	// the run got as far as knowing them.
	Outputs map[string]json.RawMessage `json:",omitempty"`
	// Plain are the outputs that were wanted in plain. Nil where none were, or where
	// they could not be read: that does not fail an Update that has succeeded. It is
	// not kept for a next process either.
	Plain *PlainOutputs `json:"-"`
	// LeftOut is how many outputs are not in Outputs, because there are too many.
	LeftOut int `json:",omitempty"`
	// Changes that were made, also by a run that failed. Of a Preview, those that
	// an Update would make.
	Changes Changes
	// Project that was run.
	Project Project
	// Backend is the URL of the backend that the stack was found or made in, without
	// user, password and query. Empty where that was not seen, and for a Preview, and
	// where the Look that the run was to take was not taken to its end.
	Backend string `json:",omitempty"`
	// Interrupted says that Pulumi was ended by force, so that a lock and
	// operations in flight may be left behind: a Recover is needed. Of a Recover it
	// also says that it has begun to settle them, and failed.
	Interrupted bool `json:",omitempty"`
	// UnknownCreates are the URNs of resources of which nobody knows whether they
	// were created, sorted.
	UnknownCreates []string `json:",omitempty"`
	// Forgotten are those that a Recover with ClearPendingCreates has forgotten,
	// sorted: what exists of them is outside of the stack.
	Forgotten []string `json:",omitempty"`
	// Inventory of the resources, after a run that may have changed some. Nil is that
	// the run has nothing to tell of them.
	Inventory *Inventory `json:",omitempty"`
	// Steps are what an Update would do, of a Preview that was to tell, and
	// StepsLeftOut is how many there were too many of.
	Steps        []Step `json:",omitempty"`
	StepsLeftOut int    `json:",omitempty"`
	// Permalink to the update in Pulumi Cloud.
	Permalink string `json:",omitempty"`
	// StartedAt and EndedAt bound the run.
	StartedAt, EndedAt time.Time
}

// Ref names a run and its Stack.
type Ref struct {
	ID, Namespace, Name string
}

// Phase is where a run stands.
type Phase string

const (
	// Unknown is a run that this runner knows nothing of: never started here, or
	// forgotten.
	Unknown Phase = "Unknown"
	// Running is a run in flight.
	Running Phase = "Running"
	// Ended is a run that has a Result.
	Ended Phase = "Ended"
)

// ErrRefused is wrapped by the errors of Runner.Start that prove that nothing
// was started.
var ErrRefused = errors.New("the run was not started")

// ErrCancelled is the cause of the end of runs that a person has cancelled.
var ErrCancelled = errors.New("somebody asked for it")

// Runner does runs somewhere. Its methods do not wait for a run.
type Runner interface {
	// Reserve asks for the place of one run on behalf of a Stack. It returns
	// false when all are taken: the Stack is then told as soon as one is free
	// and it is the Stack's turn. It also does while a run of the Stack is in
	// flight, at the end of which the Stack is told.
	Reserve(namespace, name string) bool
	// Release gives a place back, or the wait for one, that no run was started
	// for.
	Release(namespace, name string)
	// Abandon drops all that is kept for a Stack that does not exist any more. A
	// run of it that is in flight goes on.
	Abandon(namespace, name string)
	// Start starts a run in the place reserved for its Stack and returns at
	// once.
	Start(r Run) error
	// Cancel has a run in flight end: gently, so that the operations in flight are
	// finished, or now. It does nothing for any other run, and nothing the second time.
	Cancel(id string, now bool) error
	// Look tells where a run stands, and its Result once it has ended.
	Look(id string) (Phase, *Result)
	// Ended lists the runs that have ended here and have not been forgotten.
	Ended() []Ref
	// Forget drops all that is kept of a run that has ended.
	Forget(id string) error
}
