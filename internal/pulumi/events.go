// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"

	"github.com/flux-pulumi/pulumi-controller/internal/mask"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// stackType is the type of the entry that a stack has for itself.
const stackType = "pulumi:pulumi:Stack"

// providerType is the beginning of the types of providers.
const providerType = "pulumi:providers:"

// maxChanged bounds the changed resources whose names are kept, to show the first
// of them in order: the engine tells of them in any order, and a message that says
// the same must look the same.
const maxChanged = 1000

// maxErrors bounds the errors that are kept to choose a message from.
const maxErrors = 20

// engineEvent is the part of apitype.EngineEvent that is read here. That type
// itself would decode the properties of every resource, and change big numbers
// among them.
type engineEvent struct {
	Diagnostic *apitype.DiagnosticEvent `json:"diagnosticEvent"`
	Summary    *apitype.SummaryEvent    `json:"summaryEvent"`
	Policy     *apitype.PolicyEvent     `json:"policyEvent"`
	Pre        *stepEvent               `json:"resourcePreEvent"`
	Done       *stepEvent               `json:"resOutputsEvent"`
	Failed     *stepEvent               `json:"resOpFailedEvent"`
	Cancel     *struct{}                `json:"cancelEvent"`
}

type stepEvent struct {
	Metadata struct {
		Op   apitype.OpType `json:"op"`
		URN  string         `json:"urn"`
		Type string         `json:"type"`
		// Provider is empty for what has none: a component, and a provider.
		Provider string     `json:"provider"`
		Old      *stepState `json:"old"`
		// Diffs and DetailedDiff have the paths of the properties that change.
		Diffs        []string            `json:"diffs"`
		DetailedDiff map[string]struct{} `json:"detailedDiff"`
		New          *stepState          `json:"new"`
	} `json:"metadata"`
	// Status of an operation that failed tells whether it did a part of what it was to do.
	Status resource.Status `json:"status"`
}

// stepState is a resource before or after a step. What is not asked for is not
// decoded.
type stepState struct {
	Custom   bool                       `json:"custom"`
	Delete   bool                       `json:"delete"`
	ID       string                     `json:"id"`
	Parent   string                     `json:"parent"`
	Protect  bool                       `json:"protect"`
	External bool                       `json:"external"`
	Inputs   map[string]json.RawMessage `json:"inputs"`
	Outputs  map[string]json.RawMessage `json:"outputs"`
}

// events is what the engine has told of one operation. It is fed line by line.
type events struct {
	mask *mask.Masker
	// hold, where it is set, gets the diagnostics, which are not to be logged as soon
	// as they come, but for those that only inform, and whether it is an error or a
	// warning.
	hold func(l toldLine, warns bool)
	// began and ended bound the time in which the engine is at work, and a first
	// signal is taken as a wish to stop.
	began, ended bool
	outputs      map[string]json.RawMessage
	// inFlight counts the operations of providers that have begun and not ended.
	inFlight int
	errors   []diagnostic
	steps    map[apitype.OpType]int
	stackOp  apitype.OpType
	summary  *apitype.SummaryEvent
	// changed names the first resources that are not as they were, each with what
	// happened to it, and changedCount counts all of them. Providers are counted
	// apart.
	changed                        []string
	changedCount, changedProviders int
	// failedCreates, providerGone and cancelled are sets of URNs: see unknownCreates.
	failedCreates, providerGone, cancelled map[string]bool
	// resources that were told of.
	resources resources
	// planned, where it is set, gets the steps of a preview.
	planned *plannedSteps
}

// diagnostic is an error that the engine or the program reported.
type diagnostic struct {
	urn, text string
	// told is what text is of.
	told toldLine
	// raw is the text before it was masked, to tell what it says: a secret may be
	// any word. It is never shown.
	raw string
	// printed is one that the program only printed: Pulumi YAML reports its
	// errors that way.
	printed bool
}

// sign is what a diagnostic is recognized by.
func (d diagnostic) sign() string { return cmp.Or(d.raw, d.text) }

// read takes in one line of the event log and tells what to log of it, "" for
// nothing. What is not understood is passed over: the outcome of a run never
// hangs on its events.
func (e *events) read(line []byte) string {
	var event engineEvent
	if err := json.Unmarshal(line, &event); err != nil {
		return ""
	}
	e.began = true
	switch {
	case event.Diagnostic != nil:
		return e.readDiagnostic(event.Diagnostic)
	case event.Policy != nil:
		return e.readPolicy(event.Policy)
	case event.Pre != nil:
		return e.readStart(event.Pre)
	case event.Done != nil:
		return e.readDone(event.Done)
	case event.Failed != nil:
		return e.readFailed(event.Failed)
	case event.Summary != nil:
		e.summary, e.ended = event.Summary, true
	case event.Cancel != nil:
		e.ended = true
	}
	return ""
}

func (e *events) readDiagnostic(event *apitype.DiagnosticEvent) string {
	message := tell(event.Message)
	raw := tidy(message.raw)
	if raw == "" || event.Severity == "debug" || event.Ephemeral {
		return ""
	}
	if event.Severity == "error" && isProviderGone(raw) {
		note(&e.providerGone, event.URN)
	}
	if event.Severity == "error" && isCancelled(raw) {
		note(&e.cancelled, event.URN)
	}
	printed := event.Severity == "info#err"
	if event.Severity == "error" || printed {
		e.keepError(diagnostic{urn: event.URN, told: toldLine{text: message}, raw: raw, printed: printed})
	}
	switch name := event.Severity; {
	case name == "info":
		return toldLine{urn: event.URN, text: message}.masked(e.mask)
	case printed:
		return e.later(toldLine{urn: event.URN, text: message}, isErrorLine(raw))
	default:
		return e.later(toldLine{urn: event.URN, lead: name + ": ", text: message}, true)
	}
}

// later is what to log at once of a line that may be held back.
func (e *events) later(l toldLine, warns bool) string {
	if e.hold == nil {
		return l.masked(e.mask)
	}
	e.hold(l, warns)
	return ""
}

// keepError keeps the first errors. A printed one counts where it says that it
// is an error; printed lines that are indented belong to the one before.
func (e *events) keepError(d diagnostic) {
	if d.printed && !isErrorLine(d.sign()) {
		if last := len(e.errors) - 1; last >= 0 && e.errors[last].printed && strings.HasPrefix(d.sign(), " ") {
			kept := &e.errors[last]
			kept.told.text = kept.told.text.and(d.told.text)
			kept.text, kept.raw = kept.told.masked(e.mask), cut(kept.raw+"\n"+d.raw, maxMessage)
		}
		return
	}
	if len(e.errors) < maxErrors {
		d.text, d.raw = d.told.masked(e.mask), cut(d.raw, maxMessage)
		e.errors = append(e.errors, d)
	}
}

// remask masks the errors once more, with all that is known now.
func (e *events) remask() {
	for n := range e.errors {
		e.errors[n].text = e.errors[n].told.masked(e.mask)
	}
}

func (e *events) readPolicy(event *apitype.PolicyEvent) string {
	text := toldLine{lead: fmt.Sprintf("policy %s of %s: ", event.PolicyName, event.PolicyPackName), text: tell(event.Message)}
	if event.EnforcementLevel == "mandatory" {
		e.keepError(diagnostic{urn: event.ResourceURN, told: text})
	}
	text.urn = event.ResourceURN
	return e.later(text, true)
}

func (e *events) readStart(event *stepEvent) string {
	if event.Metadata.Type == stackType {
		e.stackOp = event.Metadata.Op
	}
	if isWork(event) {
		e.inFlight++
	}
	e.resources.began(event)
	e.planned.began(event)
	return step(event, "started")
}

func (e *events) readDone(event *stepEvent) string {
	meta := event.Metadata
	if meta.Type == stackType {
		if meta.New != nil {
			e.outputs = knownOutputs(meta.New.Outputs)
		}
		return ""
	}
	if e.steps == nil {
		e.steps = make(map[apitype.OpType]int)
	}
	if !isDefaultProvider(meta.Type, meta.URN) {
		e.steps[meta.Op]++
	}
	e.noteEnd(event)
	e.noteChanged(event)
	e.resources.done(event)
	e.planned.done(event)
	return step(event, "done")
}

// isDefaultProvider tells whether the resource is a provider that the engine made
// by itself. Its own summary counts none of these.
func isDefaultProvider(typ, urn string) bool {
	name := urn[strings.LastIndex(urn, "::")+1:]
	return strings.HasPrefix(typ, providerType) && strings.HasPrefix(name, ":default")
}

// noteChanged notes what a refresh finds: a resource is updated where it was
// edited, and deleted where it is gone.
func (e *events) noteChanged(event *stepEvent) {
	var what string
	switch event.Metadata.Op {
	case apitype.OpUpdate:
		what = "changed"
	case apitype.OpDelete:
		what = "gone"
	default:
		return
	}
	switch meta := event.Metadata; {
	case isDefaultProvider(meta.Type, meta.URN):
		return // it has what the program says, and the summary does not count it
	case strings.HasPrefix(meta.Type, providerType):
		e.changedProviders++
		return
	}
	if e.changedCount++; e.changedCount <= maxChanged {
		e.changed = append(e.changed, shortName(event.Metadata.URN)+" is "+what)
	}
}

// onlyProvidersChanged tells that a refresh has found nothing but other settings
// of providers. Those are what the program says, as with renewed credentials, and
// nothing that exists anywhere.
func (e *events) onlyProvidersChanged() bool {
	if e.summary == nil {
		return false
	}
	count := 0
	for op, n := range e.summary.ResourceChanges {
		if op != apitype.OpSame {
			count += n
		}
	}
	return e.changedCount == 0 && count == e.changedProviders
}

func (e *events) readFailed(event *stepEvent) string {
	op := event.Metadata.Op
	isCreate := op == apitype.OpCreate || op == apitype.OpCreateReplacement
	// What was made, and only did not become ready, is in the state: nothing is
	// unknown about it, whatever its error says.
	if isCreate && event.Status != resource.StatusPartialFailure {
		note(&e.failedCreates, event.Metadata.URN)
	}
	e.noteEnd(event)
	e.resources.failed(event)
	return step(event, "failed")
}

// step is the line for an operation on a resource: none for one that is as it
// should be, or for the stack itself.
func step(event *stepEvent, what string) string {
	if event.Metadata.Op == apitype.OpSame || event.Metadata.Type == stackType {
		return ""
	}
	return about(event.Metadata.URN, fmt.Sprintf("%s %s", event.Metadata.Op, what))
}

// isWork tells whether the step is an operation of a provider: what is as it
// should be takes none, and a component ends whenever the program says so.
func isWork(event *stepEvent) bool {
	return event.Metadata.Provider != "" && event.Metadata.Op != apitype.OpSame
}

func (e *events) noteEnd(event *stepEvent) {
	if isWork(event) && e.inFlight > 0 {
		e.inFlight--
	}
}

// progress is how far the operation has come.
func (e *events) progress() run.Progress {
	return run.Progress{Done: e.changes(), InFlight: e.inFlight}
}

// changes counts by the summary, which also knows components that registered no
// outputs, and by the single steps where the engine did not get as far.
func (e *events) changes() run.Changes {
	counts := make(map[apitype.OpType]int)
	for op, n := range e.steps {
		counts[op] = n
	}
	if e.summary != nil {
		clear(counts)
		for op, n := range e.summary.ResourceChanges {
			counts[op] = n
		}
		// The stack's own entry is in the summary.
		if counts[e.stackOp] > 0 {
			counts[e.stackOp]--
		}
	}
	return run.Changes{
		// An import is new to the stack, as a creation is.
		Created: counts[apitype.OpCreate] + counts[apitype.OpImport],
		Updated: counts[apitype.OpUpdate],
		Deleted: counts[apitype.OpDelete],
		// A replacement is also a create-replacement and a delete-replaced, which
		// are not counted.
		Replaced: counts[apitype.OpReplace],
		Same:     counts[apitype.OpSame],
	}
}
