// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package run describes a run of Pulumi: the Run (what to do), the Result (what happened)
// and the Runner (where it happens). The packages below it are the Runners and their
// parts. This one touches no client, process or file.
package run

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/identity"
)

// Run is all that is needed to do one run. It holds secrets: never log it, and write it
// only where nothing but its runner can read it.
type Run struct {
	// ID names the run. No other run ever has it.
	ID string
	// Namespace and Name of the Stack.
	Namespace, Name string
	// UID of the Stack, the owner of the objects that the run creates in the cluster.
	UID string
	// Operation to do.
	Operation Operation
	// Revision of the program, for the log.
	Revision string
	// Stack as in the spec: <stack>, <org>/<stack> or <org>/<project>/<stack>.
	Stack string
	// Backend is the URL of the backend.
	Backend string
	// BackendKey is a secret key. It hashes the URL of a backend that comes from a
	// Secret: only the digest is reported. Empty if the URL does not come from a Secret.
	BackendKey string
	// Project is the name and runtime of the project if the program has no Pulumi.yaml:
	// for a Program, and for a Destroy.
	Project Project
	// Program to run. A Destroy without Options.RunProgram needs none, unless the state has
	// resources of a dynamic provider.
	Program Program
	// Env are the environment variables from the spec.
	Env map[string]string
	// Config are the plain config values, by key.
	Config map[string]json.RawMessage
	// Secrets are the secret config values, by key.
	Secrets map[string]string
	// Masks are the values that must not appear in any text of the Result.
	Masks []string
	// LateMasks returns further masks, which came up after the start of the run. It may
	// be called at any time. Nil is none.
	LateMasks func() []string `json:"-"`
	// Fetch brings the artifact into the empty workspace, for a run that has found out that
	// it needs it. Nil is that there is none, or that it is there already.
	Fetch func(ctx context.Context) error `json:"-"`
	// ForProviders is set once a run that works from the state has found out that it needs
	// the program: see Fetch.
	ForProviders bool `json:"-"`
	// Reporter receives what the run reports while it is in flight. Nil receives nothing.
	Reporter Reporter `json:"-"`
	// Abort is closed when a cancelled run must not wait for the operations in flight any
	// more. Nil never is.
	Abort <-chan struct{} `json:"-"`
	// SecretsProvider encrypts the secrets of the stack: passphrase, default, or the URL
	// of a key. Empty leaves the choice to the program and the state.
	SecretsProvider string
	// Environments of Pulumi ESC that the stack imports, beside those that the program
	// names.
	Environments []string
	// Account is the service account whose rights in the cluster the program has. Without
	// a name there is none.
	Account ServiceAccount
	// Identity is that of the account in clouds. The zero value is none. Pods of an earlier
	// version do not know it.
	Identity identity.Identity `json:",omitzero"`
	// Options of the operation.
	Options Options
	// WantsPlan makes a Preview return its Plan. Pods know it by its earlier name.
	WantsPlan bool `json:"Steps"`
	// Comparable makes that Plan one that can be compared with that of an Update: with the state
	// that it starts from, the inputs and the versions. Pods of an earlier version do not know it:
	// their Plan has no State.
	Comparable bool `json:",omitempty"`
	// PlanKey is the secret key of the digests in a plan of what is not shown: with the same
	// key, the same change is the same plan. Empty is a random one.
	PlanKey string `json:",omitempty"`
	// PlanInputs is the digest of the inputs, which is part of the plan.
	PlanInputs string `json:",omitempty"`
	// Approved is the digest of the plan that an Update or a Destroy is held to: unless its own
	// plan has the same, it ends as PlanChanged and changes nothing. Empty is no plan.
	Approved string `json:",omitempty"`
	// IgnoreDrift is what a CheckDrift leaves out of its Drift.
	IgnoreDrift []v1.IgnoredDrift `json:",omitempty"`
	// Policies are the packs that the program is run with, in order. Pods of an earlier version
	// do not know them.
	Policies []PolicyPack `json:",omitempty"`
	// Outputs to return in plain text, from ReadOutputs or from an Update that succeeds.
	// Nil is none.
	Outputs *WantedOutputs
	// Exists reports whether the stack is known to be in the backend, which saves a
	// request. It may be wrong.
	Exists bool
	// Interrupted are the runs to recover from: one, and the interrupted recoveries from
	// it. None if a Recover only has to clear pending creations.
	Interrupted []Interrupted
	// UnknownCreates are the URNs of the creations of unknown outcome known so far.
	UnknownCreates []string
	// ClearPendingCreates lets a Recover forget creations of unknown outcome, if
	// UnknownCreates names all that it finds. Otherwise it forgets none and reports them
	// all: had it cleared them and died before its report, nobody could name them any
	// more.
	ClearPendingCreates bool
	// Known is the project of the stack if a run has found or made it. If set, the stack
	// must be in the backend and the project must match: any other is another stack, and
	// this one would be left behind with all its resources. Only a Recover from a destroy
	// that had deleted every resource need not find it.
	Known Project
	// KnownBackend is the last known Result.Backend. If this run has another backend, a
	// stack that is not found is not gone.
	KnownBackend string
	// MustExist reports whether another controller has updated the stack, and no run of
	// this one has found it yet. If it is not in the backend, the backend is the wrong
	// one.
	MustExist bool
	// InspectFirst reports whether no run of this controller has found the stack yet. If
	// it exists all the same, someone else may have died while working on it: operations
	// in flight are settled before anything else, and if creations of unknown outcome are
	// among them, the run ends and names those. Pods know it by its earlier name.
	InspectFirst bool `json:"Look"`
	// NoCreate fails an Update whose stack is not in the backend.
	NoCreate bool
	// Timeout after which the run is cancelled gently. It is above zero.
	Timeout time.Duration
	// Workspace is spec.workspaceTemplate, for a Runner that has pods. Empty is none.
	Workspace json.RawMessage `json:",omitempty"`
}

// LogValues returns the keys and values of the log of a run. The keys are those that
// controller-runtime uses for reconciles, so that flux logs --kind=Stack --name=<name>
// shows both.
func (r Run) LogValues() []any {
	return []any{
		"controller", "stack", "controllerGroup", "pulumi.com", "controllerKind", "Stack",
		"namespace", r.Namespace, "name", r.Name,
		"run", r.ID, "operation", string(r.Operation), "revision", r.Revision,
	}
}

// Options of an operation.
type Options struct {
	// Refresh reads the real state of resources before an Update, a Preview or a Destroy.
	Refresh bool
	// ExpectNoRefreshChanges ends an Update or a Preview as Drifted, before it changes
	// anything, if the refresh finds changes. It does nothing without a refresh, which
	// Refresh asks for, or the options of the program's Pulumi.yaml.
	ExpectNoRefreshChanges bool
	// Targets are the URNs of the resources to which an Update or a Preview is limited.
	// None means all.
	Targets []string
	// TargetDependents adds the dependents of the targets.
	TargetDependents bool
	// RunProgram runs the program in a Destroy, a Recover and a refresh as well.
	RunProgram bool
	// PreviewFirst does an Update only if its preview succeeds. Without it, one that refreshes has
	// written to the state what it has found by the time the program fails.
	PreviewFirst bool `json:",omitempty"`
}

// RunsProgram reports whether the run runs the program, or a provider that is part of it,
// and so needs it and its config. Other runs work from the state alone.
func (r Run) RunsProgram() bool {
	use := KindOf(r.Operation).Program
	return use == ProgramAlways || r.ForProviders || (use == ProgramIfAsked && r.Options.RunProgram)
}

// NeedsArtifact reports whether the run needs the artifact of its program. A run that
// works from the state needs it only for the name of the project.
func (r Run) NeedsArtifact() bool {
	return r.Program.Artifact != nil && (r.RunsProgram() || r.Project.Name == "")
}

// NeedsAccount reports whether the run needs its service account: for the program, or, with an
// identity in a cloud, for the backend too.
func (r Run) NeedsAccount() bool {
	return r.Account.Name != "" && (KindOf(r.Operation).Program != ProgramNever || !r.Identity.IsZero())
}

// LoadsPolicies reports whether the run has policy packs that Pulumi has to load.
func (r Run) LoadsPolicies() bool {
	return len(r.Policies) > 0 && KindOf(r.Operation).Policies != PoliciesNever
}

// WantedOutputs are the outputs to return in plain text.
type WantedOutputs struct {
	// Keys are the names of the outputs. None means all.
	Keys []string
}

// Wants reports whether an output is wanted.
func (w WantedOutputs) Wants(name string) bool {
	return len(w.Keys) == 0 || slices.Contains(w.Keys, name)
}

// Interrupted is a run that was killed, or whose end nobody saw.
type Interrupted struct {
	// ID of the run.
	ID string
	// Operation of the run.
	Operation Operation
	// Host of the run. Its holder is proven to be gone, or is alive and has itself seen
	// that Pulumi was killed.
	Host string
	// Place of that holder, as seen from this process.
	Place Place
	// From and To bound the run, zero if unknown: the times at which it was recorded, and
	// found to be interrupted.
	From, To time.Time
	// Backend is the one that the run was to use, like Result.Backend. Empty if unknown.
	Backend string
	// Emptied reports whether it had deleted every resource, so that it may have removed
	// the stack.
	Emptied bool
}

// Place is where a process was.
type Place string

const (
	// Elsewhere is another host, or an unknown place.
	Elsewhere Place = ""
	// Here is this host since its last boot, in the PID namespace of this process.
	Here Place = "Here"
	// BeforeBoot is a host of the same name, before its last boot.
	BeforeBoot Place = "BeforeBoot"
)

// Project is the part of Pulumi.yaml that identifies a project.
type Project struct {
	Name    string
	Runtime string
}

// Program is the source of a run's program: exactly one of Artifact and YAML is set.
type Program struct {
	// Artifact of a Flux source.
	Artifact *Artifact
	// Unavailable is why there is no Artifact, for a run that may turn out to need it.
	Unavailable string `json:",omitempty"`
	// YAML is the text of a Program, in Pulumi YAML.
	YAML []byte
	// Config are defaults that a Program sets for providers, such as aws:region, unless
	// the Stack sets them.
	Config map[string]any
	// Packages are the versions of packages that a Program requests, by name.
	Packages map[string]string
}

// LeftOutOfArtifacts says why a file of a repository may be missing in an artifact.
const LeftOutOfArtifacts = "symbolic links, and files that .sourceignore or spec.ignore of the source excludes, are not in an artifact"

// MissingLanguage says why the program of a run could not be executed.
const MissingLanguage = "the image that runs the program does not have it, or not for the user of the run"

// Artifact is the artifact of a Flux source, and the directory of the program in it.
type Artifact struct {
	// URL to download the archive from.
	URL string
	// Digest that the archive must have, as <algorithm>:<checksum>.
	Digest string
	// Dir is relative to the root of the archive.
	Dir string
	// Archive is the content, if it was uploaded. There is no URL then.
	Archive []byte `json:",omitempty"`
}
