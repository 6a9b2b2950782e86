// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package run says what a run of Pulumi is: the Run (what to do), the Result
// (what happened) and the Runner (where it is done). The packages below it are
// the places. No client, no process and no file is touched here.
package run

import (
	"encoding/json"
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
