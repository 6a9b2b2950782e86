// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/flux-pulumi/pulumi-controller/internal/plan"
)

// OutcomeError is an error with the outcome that it has for a run.
type OutcomeError struct {
	Outcome Outcome
	Err     error
}

func (e *OutcomeError) Error() string { return e.Err.Error() }
func (e *OutcomeError) Unwrap() error { return e.Err }

// Changes counts resources by what became of them, without the stack's own entry.
type Changes struct {
	Created, Updated, Deleted, Replaced, Same int
	// Retained are those that the stack does not manage any more, and that are still there,
	// because of retainOnDelete. A resource that is replaced counts as well if the old one
	// is retained.
	Retained int `json:",omitempty"`
	// Unknown reports that they were not counted, as some of Pulumi's events could not be
	// read.
	Unknown bool `json:",omitempty"`
}

// Found is what a run has found out about its stack. Whoever recovers from it has to know
// this, so that it is reported before the run changes anything, not with the Result.
type Found struct {
	// Project and Backend of the stack, as in the Result. They are empty as long as they are
	// those that were known before.
	Project Project
	Backend string `json:",omitempty"`
	// Emptied reports whether a Destroy has deleted every resource, and removes the stack
	// next.
	Emptied bool `json:",omitempty"`
}

// Progress is how far a run has come.
type Progress struct {
	// Done are the changes so far. For a Preview, those that an Update would make.
	Done Changes
	// InFlight counts the operations on resources that are in flight.
	InFlight int
	// Waiting says, for a person, what a run waits for, or what it does before it gets to
	// the resources. Empty if neither.
	Waiting string `json:",omitempty"`
}

// The Progress.Waiting of a run whose program is not at work yet.
const (
	// Installing is a run that installs the dependencies of its program.
	Installing = "installing the dependencies of the program"
	// InstallingPolicies is a run that installs the dependencies of its policy packs.
	InstallingPolicies = "installing the dependencies of the policy packs"
	// StartingProgram is a run that has started its program, which has not registered a
	// resource yet. Language hosts compile a program when they start it.
	StartingProgram = "waiting for the first resource of the program, which may have to be compiled"
)

// Result is what happened in a run. Its texts are bounded and masked: all but Plain may
// be shown.
type Result struct {
	Outcome Outcome
	// Operation of the run, and Approved of it. A pod of an earlier version reports neither.
	Operation Operation `json:",omitempty"`
	Approved  string    `json:",omitempty"`
	// Message is Pulumi's first error, for a person. Empty for a run that succeeded.
	Message string `json:",omitempty"`
	// Warnings are what a person should know of a run that succeeded.
	Warnings []string `json:",omitempty"`
	// Outputs of the stack, secrets as the string "[secret]". Nil if the run did not get
	// as far as that.
	Outputs map[string]json.RawMessage `json:",omitempty"`
	// Plain are the outputs in plain text. Nil if none were wanted, or if they could not
	// be read, which does not fail a successful Update. They are not kept for the next
	// process.
	Plain *PlainOutputs `json:"-"`
	// LeftOut is the number of outputs beyond the limit of Outputs.
	LeftOut int `json:",omitempty"`
	// OutputsMissed reports that the Update has set the outputs, and that the event that
	// has them could not be read.
	OutputsMissed bool `json:",omitempty"`
	// Changes made, also by a run that failed. For a Preview, those that an Update would
	// make.
	Changes Changes
	// Project that was run.
	Project Project
	// Backend is the URL of the backend in which the stack was found or created, without
	// user, password and query. Empty if the stack was not seen, for a Preview, and after
	// an unfinished inspection (Run.InspectFirst).
	Backend string `json:",omitempty"`
	// Interrupted reports whether Pulumi was killed and may have left a lock and
	// operations in flight, so that a Recover is needed. For a Recover, it also reports
	// whether it failed while settling these.
	Interrupted bool `json:",omitempty"`
	// Refreshed reports whether an Update that has not succeeded may have written to the state what its
	// refresh has found. A check finds no drift in that.
	Refreshed bool `json:",omitempty"`
	// Emptied is that of Found, for a Recover that of the runs it recovered from.
	Emptied bool `json:",omitempty"`
	// UnknownCreates are the sorted URNs of resources that may or may not have been
	// created.
	UnknownCreates []string `json:",omitempty"`
	// Forgotten are the sorted URNs that a Recover with ClearPendingCreates has
	// forgotten: those that exist are not in the stack.
	Forgotten []string `json:",omitempty"`
	// Inventory of the resources, after a run that may have changed some. Nil if the run
	// has nothing to report on them.
	Inventory *Inventory `json:",omitempty"`
	// Plan of what an Update would do, from a Preview that was asked for it. Nil otherwise.
	Plan *plan.Plan `json:",omitempty"`
	// Done are the steps that an Update or a Destroy has done, also if it has failed. Nil if it has
	// changed nothing, and for any other run.
	Done *plan.Plan `json:",omitempty"`
	// Drift is what a CheckDrift has found. Nil if it did not succeed, and for any other run.
	Drift *Drift `json:",omitempty"`
	// Violations are those of the policies of Run.Policies: each once, and a bounded number.
	Violations Violations `json:",omitzero"`
	// Log is the end of the run's log, if the log itself is gone with the place of the run.
	// Nil otherwise.
	Log *Log `json:",omitempty"`
	// Tail is the end of the log of a run whose place keeps the log, for the history. Nil otherwise.
	Tail *Log `json:",omitempty"`
	// Permalink to the update in Pulumi Cloud.
	Permalink string `json:",omitempty"`
	// StartedAt and EndedAt bound the run.
	StartedAt, EndedAt time.Time
}

// Drift is how the resources of a stack differ from its state.
type Drift struct {
	// Found has a step for each resource with drift that counts: OpUpdate with the properties
	// that differ, or OpDelete if the resource is gone. It has only steps.
	Found plan.Plan
	// Ignored is the number of resources with drift that does not count at all.
	Ignored int `json:",omitempty"`
}

// Recreates reports whether an update that undoes the drift creates a resource again. What depends
// on that must then be a target as well: it would keep the ID of the one that is gone, and no check
// would find that. Pulumi undoes all drift of such dependents.
func (d Drift) Recreates() bool {
	return d.Found.More.Delete > 0 || slices.ContainsFunc(d.Found.Steps, Recreates)
}

// Recreates reports whether an update that undoes the drift of one resource may create it again.
func Recreates(step plan.Step) bool {
	return step.Op == plan.OpDelete || step.MoreProperties > 0 || slices.ContainsFunc(step.Properties, func(p plan.Property) bool { return p.Replaces })
}

// TooBigMark and NotShownMark begin the texts in Result.Outputs, and in the status, that
// take the place of an output.
const (
	TooBigMark   = "[too big to show"
	NotShownMark = "[not shown"
)

// PlainOutputs are outputs including secrets. They are kept in memory only: never show
// them or write them to a file.
type PlainOutputs struct {
	// Wanted is the request. Values lacks the outputs that the stack does not have.
	Wanted WantedOutputs
	// Values by name, in JSON.
	Values map[string]json.RawMessage
}
