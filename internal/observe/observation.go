// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"encoding/json"
	"time"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/decide"
	"github.com/flux-pulumi/pulumi-controller/internal/gitsource"
	"github.com/flux-pulumi/pulumi-controller/internal/identity"
	"github.com/flux-pulumi/pulumi-controller/internal/inputs"
	programs "github.com/flux-pulumi/pulumi-controller/internal/program"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// Observation is what one reconcile has observed: what the decision depends on, and what
// acting on it needs.
type Observation struct {
	decide.Observation
	// Program of the next run.
	Program Program
	// Inputs of the next run. They are nil if they are known to be those of an earlier
	// reconcile, of which only their digest is kept.
	Inputs       *inputs.Inputs
	inputsDigest string
	// PlanInputs are the inputs of a plan.
	PlanInputs inputs.PlanInputs
	// Result of the recorded run, nil if it has not ended.
	Result *run.Result
	// Stale are the prerequisites that have to run again.
	Stale []*v1.Stack
	// Packs are the policy packs of the PolicySets that select the Stack.
	Packs Policies
	// Account is the service account the program runs as.
	Account string
	// Identity is that of the service account in clouds.
	Identity identity.Identity
	// Workspace is the template of the pod of a run, in JSON. Nil is none.
	Workspace json.RawMessage
	// Forced says to force the run: it was asked for, and no forced run has succeeded
	// since.
	Forced bool
	// Upkeep is what is due for the objects that are kept for spec.projectRepo, and upkept
	// what became of it.
	Upkeep *gitsource.Upkeep
	upkept *upkept
	// local is the local program to preview instead of that of the Stack.
	local *Program
}

// Program is a program at its current revision.
type Program struct {
	run.Program
	Revision, OriginRevision, Digest string
	// Project is set for a Program only: a source brings its own Pulumi.yaml.
	Project run.Project
	// ResourceNames are the names of the resources of a Program.
	ResourceNames map[string]bool
	// Declared are the config values that a Program declares.
	Declared []programs.Declared
	// MadeAt is when the Program was created. Zero for a source.
	MadeAt time.Time
}
