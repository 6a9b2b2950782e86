// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"cmp"

	"github.com/flux-pulumi/pulumi-controller/internal/bounded"
	"github.com/flux-pulumi/pulumi-controller/internal/grammar"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// ending collects how the run ended. The cause is that of its context, if done.
func (s *session) ending(last exit, err, cause error) ending {
	end := ending{
		operation: s.run.Operation, err: err, last: last, stderr: last.stderr.masked(s.mask), events: *s.events, checked: s.checking,
		missing: s.stackMissing && !s.stackFound, held: s.heldLocks, installing: s.installing, compiling: s.compiling, cause: cause,
		isPlanned: s.held != "", packs: s.packs, unready: s.unready, program: s.failedProgram(), printed: s.events.printed.masked(s.mask),
	}
	if s.withheld != "" {
		end.stderr = s.withheld
	}
	if s.installing {
		end.stdout = last.stdout.masked(s.mask)
	}
	if last.code != 0 {
		end.disk = s.dir.probe()
	}
	if last.code != 0 && !s.installing {
		end.unread = s.unreadLocks()
	}
	return end
}

// result is the result to report.
func (s *session) result(end ending) run.Result {
	result := run.Result{Operation: s.run.Operation, Approved: s.run.Approved, Project: s.project, Changes: s.changes()}
	if !grammar.IsDIY(s.run.Backend) {
		result.Permalink = permalink(end.last.stdout.Text)
	}
	outcome, message := outcomeOf(end)
	if result.Violations = s.violations(); outcome == run.PolicyViolation {
		message = cmp.Or(violationsMessage(result.Violations, s.hasChanged()), message)
	}
	if outcome == run.PolicyPackFailed && s.hasChanged() {
		message += stays // the pack has died during the update
	}
	if outcome != run.Succeeded {
		message += s.openText() + s.elsewhereText() + s.lackingProgram(outcome) + s.driftSoFar(outcome)
	}
	shown := func(text string) string { return withoutID(end.program.Relative(s.mask.Apply(text)), s.run.ID) }
	denied := shown(s.deniedText(end, outcome, message))
	result.Outcome, result.Message = outcome, bounded.Text(shown(message), maxMessage-len(denied))+denied
	result.Refreshed = outcome != run.Succeeded && s.updated && (s.run.Options.Refresh || s.alwaysRefreshes)
	if outcome == run.Succeeded {
		result.Plain, result.Warnings = s.plain, s.warnings
	}
	if outcome == run.Succeeded && s.checksDrift() {
		result.Drift = s.events.drifted.result(s.mask)
	}
	switch {
	case s.made != nil:
		result.Plan = s.made
	case s.run.WantsPlan:
		result.Plan = s.plan()
	case outcome == run.Succeeded && s.run.Operation == run.ProposeDestroy:
		result.Plan = s.nothingToDestroy()
	}
	if outcome == run.PlanChanged && s.isFound() {
		result.Backend = s.backend()
	}
	if !run.KindOf(s.run.Operation).ChangesState || s.checking {
		result.Interrupted = s.creating && (end.last.byForce() || end.leftBehind()) // it had the lock
		// Nothing else was changed, so nothing can be half done, and the outputs in the
		// events are not those of the state.
		return result
	}
	if s.isFound() {
		result.Backend = s.backend()
	}
	result.Emptied = s.reportedFound.Emptied || s.emptied
	result.Outputs = showOutputs(s.events.outputs, s.mask, s.writtenNames())
	result.LeftOut = len(s.events.outputs) - len(result.Outputs)
	result.OutputsMissed = outcome == run.Succeeded && s.run.Operation == run.Update && s.events.missed && s.events.outputs == nil
	result.Interrupted = ((end.last.byForce() || end.leftBehind()) && !s.installing) || s.unsettled || s.mayBeRemoved(outcome)
	result.UnknownCreates, result.Forgotten = s.unknownCreates(outcome)
	result.Inventory = s.inventory(outcome)
	result.Done = s.done()
	return result
}

// mayBeRemoved reports whether a destroy may have removed the stack, although it failed: the
// state goes first, and then what else the backend has of the stack. Only a recovery takes
// a missing stack for destroyed.
func (s *session) mayBeRemoved(outcome run.Outcome) bool {
	return s.reportedFound.Emptied && outcome != run.Succeeded
}

// changes counts what was done. That is nothing if the events only report what a check
// found, or the resources that a refresh read before it failed.
func (s *session) changes() run.Changes {
	if s.checking || (s.run.InspectFirst && !s.inspected) {
		return run.Changes{}
	}
	return s.events.changes()
}

// hasChanged reports whether the run has changed resources.
func (s *session) hasChanged() bool {
	changes := s.changes()
	return run.KindOf(s.run.Operation).ChangesResources && (changes.Unknown || changes != run.Changes{Same: changes.Same})
}
