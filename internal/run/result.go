// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"encoding/json"
	"time"
)

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
	// RegistryUnavailable is a run that touched no resource because a plugin, or what the
	// program depends on, could not be downloaded. That may pass by itself.
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
	// InvalidSpec is a run that did nothing because the API server rejects its pod as
	// invalid: spec.workspaceTemplate asks for something that does not exist.
	InvalidSpec Outcome = "InvalidSpec"
	// PodFailed is a run whose pod could not be started, or did not live to its end.
	// With Result.Interrupted, Pulumi may have been at work.
	PodFailed Outcome = "PodFailed"
)

// Outcomes lists all there are.
func Outcomes() []Outcome {
	return []Outcome{
		Succeeded, Failed, Locked, Drifted, BackendUnavailable, RegistryUnavailable, ArtifactFailed, WorkspaceFailed,
		AccountFailed, TimedOut, Cancelled, InvalidSpec, PodFailed,
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
	// Waiting tells what the run waits for that has not begun, or is busy with before
	// it does anything to resources, for a person. Empty where that is nothing.
	Waiting string `json:",omitempty"`
}

// Installing is the Progress.Waiting of a run that installs the dependencies of its program.
const Installing = "installing the dependencies of the program"

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

// PlainOutputs are outputs with their secrets. They live in memory alone: nothing
// of them may be shown, or kept in a file.
type PlainOutputs struct {
	// Wanted is what was asked for. Outputs that the stack does not have are left
	// out.
	Wanted WantedOutputs
	// Values by name, in JSON.
	Values map[string]json.RawMessage
}
