// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/flux-pulumi/pulumi-controller/internal/bounded"
	"github.com/flux-pulumi/pulumi-controller/internal/grammar"
	"github.com/flux-pulumi/pulumi-controller/internal/programerror"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// Exit codes of the CLI that matter here.
const (
	exitStackNotFound = 6
	exitHasChanges    = 7
	exitCancelled     = 8
	// exitNotExecuted is that of the shell.
	exitNotExecuted = 126
)

// ending is everything that determines the outcome of a run.
type ending struct {
	operation run.Operation
	// err is why the CLI was not started, or not started again.
	err error
	// last is how the last CLI process ended.
	last exit
	// stderr is the masked standard error of the last CLI process. The unmasked text is
	// never shown.
	stderr string
	// events are those of the last CLI process.
	events events
	// program is what the run executed, and printed its masked output.
	program programerror.Program
	printed string
	// checked is set if the last CLI process was the check for unexpected changes, and
	// it found some or failed.
	checked bool
	// missing is set if the stack is known not to be in the backend.
	missing bool
	// isPlanned is set if Pulumi was held to a plan in the last CLI process.
	isPlanned bool
	// packs are the policy packs that Pulumi was to load.
	packs []*policyPack
	// unready says which of them were not ready when the run was stopped.
	unready string
	// held are the locks that a recovery left alone, one line each.
	held []string
	// installing is set if the last CLI process was installing the program's
	// dependencies and did not complete.
	installing bool
	// compiling is set if that process was compiling the program.
	compiling bool
	// stdout is the masked standard output of the last CLI process.
	stdout string
	// unread are the locks that cannot be read.
	unread []string
	// disk is why the directory of the run is not writable.
	disk error
	// cause is why the run was asked to stop, nil if it was not.
	cause error
}

// What is not known if events are missing.
const (
	wouldChange = "what an update would change"
	hasDrifted  = "what has drifted"
)

// whyUnknown is why the events do not have all that the operation found out, "" if they have.
func (e *events) whyUnknown(what string) string {
	switch {
	case e.counts.over && !e.missed:
		return tooManyResources(what)
	case e.summary == nil || e.missed:
		return "Pulumi's events are incomplete, so it is not known " + what +
			": see the log for errors of reading them, and whether the disk of the run was full"
	}
	return ""
}

func tooManyResources(what string) string {
	return fmt.Sprintf("the stack has more than %d resources, which are too many to say %s: split it into several", maxCounted, what)
}

// outcomeOf decides the outcome from the exit of the CLI, because events may be missing. Only
// those of a preview and of a check for drift are its result.
func outcomeOf(e ending) (run.Outcome, string) {
	switch {
	case e.err == nil && e.last.code == 0:
		return outcomeOfSuccess(e)
	case e.installing:
		return outcomeOfInstall(e)
	case e.err == nil && e.last.code == exitStackNotFound && e.operation == run.Recover && len(e.held) > 0:
		// Someone is creating the stack, or the lock would block the next run: not
		// done yet.
		return run.Locked, heldMessage(e.held)
	case e.err == nil && e.last.code == exitStackNotFound && (e.operation == run.Destroy || e.operation == run.ProposeDestroy || e.operation == run.Recover):
		// The stack to destroy is gone, or there is nothing to recover.
		return run.Succeeded, ""
	case e.err == nil && e.last.code == exitStackNotFound && isPreview(e.operation):
		return run.Failed, "the stack does not exist in the backend, and a preview does not create it: " +
			"create it with an update or pulumi stack init"
	case e.err == nil && e.checked && e.last.code == exitHasChanges:
		return run.Drifted, driftMessage(&e.events)
	case e.cause != nil && (e.last.stopped || errors.Is(e.err, e.cause)):
		return stopped(e)
	case e.err != nil:
		var disk workspaceError
		var known *run.OutcomeError
		switch {
		case errors.As(e.err, &disk):
			return run.WorkspaceFailed, e.err.Error()
		case errors.As(e.err, &known):
			return known.Outcome, e.err.Error()
		}
		return run.Failed, e.err.Error()
	case e.last.signal != "":
		ended, advice := e.program.Memory.EndedBy(e.last.signal)
		if !locks(e.operation) {
			return run.Failed, fmt.Sprintf("Pulumi %s: %s", ended, advice)
		}
		return run.Failed, fmt.Sprintf("Pulumi %s: the stack may be left locked, with pending operations; %s", ended, advice)
	}
	message := failureMessage(e.explained(), e.stderr, e.last.code)
	if doing, isLost := programerror.CutLost(message); isLost && len(e.events.errors) == 0 {
		message = doing + e.program.Lost(e.host(), e.printed) // before the engine was at work
	}
	sign := failureSign(e.events.errors, cmp.Or(e.last.stderr.Text, e.stderr), e.last.code)
	if outcome, why, isOfPacks := e.packOutcome(message); isOfPacks {
		return outcome, why
	}
	switch {
	case strings.HasSuffix(sign, noReason) && e.disk != nil:
		return run.WorkspaceFailed, fmt.Sprintf("%s: %v", message, e.disk)
	case len(e.unread) > 0 && locks(e.operation) && !e.events.began && !isLocked(sign):
		return run.Locked, unreadMessage(e.unread)
	case isLocked(sign):
		return run.Locked, lockMessage(message) + lockAdvice(message, e.missing)
	case e.events.untouched() && isRegistryAway(sign):
		return run.RegistryUnavailable, hint(message)
	case !e.events.began && isAway(sign):
		return run.BackendUnavailable, hint(message)
	}
	if e.isPlanned && isViolation(sign) {
		return run.Failed, violationMessage(message, e.events.changes() != run.Changes{Same: e.events.changes().Same})
	}
	return run.Failed, hint(message)
}

// outcomeOfSuccess is that of a run whose last process has succeeded.
func outcomeOfSuccess(e ending) (run.Outcome, string) {
	why := ""
	switch {
	case isPreview(e.operation):
		why = e.events.whyUnknown(wouldChange)
	case e.operation == run.CheckDrift:
		why = e.events.whyUnknown(hasDrifted)
	}
	if why != "" {
		return run.Failed, why
	}
	return run.Succeeded, ""
}

// maxNamed bounds the changed resources named in a message.
const maxNamed = 10

// driftMessage names what changed behind Pulumi's back.
func driftMessage(e *events) string {
	first := slices.Sorted(slices.Values(e.changed))
	first = first[:min(len(first), maxNamed)]
	named := strings.Join(first, ", ")
	if more := e.changedCount - len(first); more > 0 {
		named += fmt.Sprintf(", and %d more", more)
	}
	if named == "" {
		named = "Pulumi did not report which"
	}
	return "the refresh found changes that are not expected: " + named +
		". Undo them, or have an update undo them by removing spec.expectNoRefreshChanges"
}

// stopped is the outcome of a run that was asked to stop, or was not started because of
// that.
func stopped(e ending) (run.Outcome, string) {
	outcome, message := run.Cancelled, "cancelled: "+e.cause.Error()
	if errors.Is(e.cause, context.DeadlineExceeded) {
		outcome, message = run.TimedOut, "the timeout has passed and the run was cancelled"
	}
	switch {
	case !locks(e.operation): // nothing can be left
	case e.last.signal == "killed":
		message += "; Pulumi had to be killed: the stack may be left locked, with pending operations"
	case e.last.code == exitCancelled:
		message += "; operations were still in flight: they stay in the state as pending operations"
	}
	if e.unready != "" {
		return outcome, message + "; " + e.unready
	}
	for _, d := range e.explained() {
		if !saysNothing(d.sign()) {
			message += "; " + about(d.urn, d.text)
			break
		}
	}
	return outcome, message
}

// explained are the errors, each as the message about a failure has it.
func (e ending) explained() []diagnostic {
	errors := slices.Clone(e.events.errors)
	for i, d := range errors {
		errors[i].raw = d.sign()
		text := withoutError(d.text)
		if e.operation == run.CheckDrift {
			text = strings.TrimPrefix(text, "Preview failed: ") // to Pulumi, a check is the preview of a refresh
		}
		errors[i].text = e.explain(d.urn, text)
	}
	return errors
}

// explain is the message for an error of a resource, or of the program if there is no URN.
func (e ending) explain(urn, text string) string {
	doing, isLost := programerror.CutLost(text)
	provider := packageOf(urn)
	switch {
	case isLost && provider == "":
		return doing + e.program.Lost(e.host(), e.printed)
	case isLost && doing == "": // otherwise, the provider may have lost a connection of its own
		return e.program.Lost("the provider plugin of "+provider, e.printed)
	}
	return e.program.Message(text, e.printed)
}

// host names the process that runs the program.
func (e ending) host() string { return "the language host pulumi-language-" + e.program.Runtime }

// isLocked recognizes a lock by the texts of the file and object stores and of Pulumi
// Cloud, because the CLI has no exit code for it.
func isLocked(message string) bool {
	return strings.Contains(message, "the stack is currently locked by") ||
		strings.Contains(message, "[409] Conflict: Another update is currently in progress")
}

// lockMessage keeps who holds the lock and since when. It drops Pulumi's advice to
// delete the lock, which is for a person who knows that the holder is gone.
func lockMessage(message string) string {
	first, holders, _ := strings.Cut(message, "\n")
	first, _, _ = strings.Cut(first, ". Either wait")
	var kept []string
	for holder := range strings.Lines(holders) {
		if _, who, ok := strings.Cut(holder, ": created by "); ok {
			kept = append(kept, "created by "+strings.TrimSpace(who))
		}
	}
	if len(kept) == 0 {
		return message
	}
	return first + ": " + strings.Join(kept, ", ")
}

// lockAdvice says what to do about the locks of a stack that does not exist. A CLI that
// was killed while creating or removing the stack left them, and pulumi cancel does not
// find that stack.
func lockAdvice(message string, missing bool) string {
	var urls []string
	for line := range strings.Lines(message) {
		if lock, _, ok := strings.Cut(strings.TrimSpace(line), ": created by "); ok {
			urls = append(urls, grammar.PublicBackend(lock))
		}
	}
	if !missing || len(urls) == 0 {
		return ""
	}
	return fmt.Sprintf(". The stack does not exist, so that pulumi cancel cannot remove that: if the process is gone, delete %s from the backend",
		strings.Join(urls, " and "))
}

// permalink finds the link to the update in the CLI's output for Pulumi Cloud.
func permalink(stdout string) string {
	for line := range strings.Lines(stdout) {
		_, link, ok := strings.Cut(tidy(line), "View Live: ")
		if !ok {
			continue
		}
		if u, err := url.Parse(link); err == nil && (u.Scheme == "https" || u.Scheme == "http") {
			return u.String()
		}
	}
	return ""
}

// Failure is the result of a run that failed before it reached the driver, bounded and
// masked like any other.
func Failure(r run.Run, outcome run.Outcome, err error, started time.Time) run.Result {
	m := maskerOf(r)
	m.Follow(r.LateMasks)
	return run.Result{
		Outcome: outcome, Operation: r.Operation, Approved: r.Approved, Message: bounded.Text(withoutID(m.Apply(err.Error()), r.ID), maxMessage),
		StartedAt: started, EndedAt: time.Now(),
	}
}
