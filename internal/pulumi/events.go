// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/sig"

	"github.com/flux-pulumi/pulumi-controller/internal/bounded"
	"github.com/flux-pulumi/pulumi-controller/internal/mask"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/steplog"
)

// stackType is the type of the stack's own resource.
const stackType = "pulumi:pulumi:Stack"

// providerType is the prefix of provider types.
const providerType = "pulumi:providers:"

// maxErrors bounds the errors from which the message is chosen.
const maxErrors = 20

// engineEvent is the part of apitype.EngineEvent that is read here. Decoding into that
// type would decode the properties of every resource and corrupt big numbers.
type engineEvent struct {
	Diagnostic *apitype.DiagnosticEvent `json:"diagnosticEvent"`
	Summary    *apitype.SummaryEvent    `json:"summaryEvent"`
	Prelude    *struct{}                `json:"preludeEvent"`
	Pre        *stepEvent               `json:"resourcePreEvent"`
	Done       *stepEvent               `json:"resOutputsEvent"`
	Failed     *stepEvent               `json:"resOpFailedEvent"`
	Cancel     *struct{}                `json:"cancelEvent"`

	Policy      *apitype.PolicyEvent `json:"policyEvent"`
	Remediation *remediationEvent    `json:"policyRemediationEvent"`
	PolicyLoad  *struct{}            `json:"policyLoadEvent"`
}

type stepEvent struct {
	Metadata struct {
		Op   apitype.OpType `json:"op"`
		URN  string         `json:"urn"`
		Type string         `json:"type"`
		// Provider is empty for components and providers.
		Provider string `json:"provider"`
		// Logical is false for steps that are parts of another, and for what a refresh finds.
		Logical bool       `json:"logical"`
		Old     *stepState `json:"old"`
		// Diffs and DetailedDiff have the paths of the changing properties, and Keys those that
		// force a replacement.
		Diffs        []string                        `json:"diffs"`
		Keys         []string                        `json:"keys"`
		DetailedDiff map[string]apitype.PropertyDiff `json:"detailedDiff"`
		New          *stepState                      `json:"new"`
	} `json:"metadata"`
	// Status of a failed operation says whether it was partly done.
	Status resource.Status `json:"status"`
}

// stepState is a resource before or after a step, with only the fields used here.
type stepState struct {
	Custom   bool                       `json:"custom"`
	Delete   bool                       `json:"delete"`
	ID       string                     `json:"id"`
	Parent   string                     `json:"parent"`
	Provider string                     `json:"provider"`
	Protect  bool                       `json:"protect"`
	External bool                       `json:"external"`
	Inputs   map[string]json.RawMessage `json:"inputs"`
	Outputs  map[string]json.RawMessage `json:"outputs"`

	RetainOnDelete bool `json:"retainOnDelete"`
	// HideDiffs are the paths of properties whose values are not to be shown.
	HideDiffs []resource.PropertyPath `json:"hideDiffs"`
}

// events accumulates what the engine reports about one operation, line by line.
type events struct {
	mask *mask.Masker
	// deferLog, if set, receives the diagnostics other than "info", which are logged later,
	// and whether each is an error or a warning.
	deferLog func(l rawLine, warns bool)
	// began and ended bound the time in which the engine is at work and takes a first
	// signal as a request to stop.
	began, ended bool
	outputs      map[string]json.RawMessage
	// inFlight counts the provider operations that have started and not ended.
	inFlight int
	errors   []diagnostic
	// printed are the last lines that the program and the tools of its language printed.
	printed printedLines
	summary *apitype.SummaryEvent
	// counts has what happened to the resources, as far as no event was missed: one that
	// could not be read.
	counts counts
	missed bool
	// secrets is set once any event of the run had a secret, whose value Pulumi leaves out.
	secrets bool
	// reached is set once a step of a resource has ended, and registered once the program has
	// registered a resource or has ended. The registration of the stack is neither: the host of
	// Node.js compiles the program after it.
	reached, registered bool
	// changed has the names of the first changed resources, each with what happened to
	// it; changedCount counts all of them. Providers are counted separately.
	changed                        []string
	changedCount, changedProviders int
	// failedCreates, providerGone and cancelled are sets of URNs: see unknownCreates.
	failedCreates, providerGone, cancelled map[string]bool
	// leftCreates are the creations in flight in the state from which the engine starts:
	// see leftCreates.
	leftCreates []string
	// unsaved says that the engine could not save the state: what it did last may not be
	// in there.
	unsaved bool
	// resources are those reported so far.
	resources resources
	// startsProgram says that the operation runs the program.
	startsProgram bool
	// preview says that the operation is a preview, which does nothing of what it reports.
	preview bool
	// plugins are the versions of the providers.
	plugins plugins
	// planned, if set, collects the steps of a preview, or those that are done, previewed those to
	// which the run is held, and drifted what a refresh finds.
	planned   *plannedSteps
	previewed *approvedSteps
	drifted   *drifted
	// policies is what was reported of policy packs.
	policies policyEvents
	// approved, if set, are the only steps that may start, and notApproved is the first other one.
	approved    *approvedSteps
	notApproved string
}

// diagnostic is an error that the engine or the program reported.
type diagnostic struct {
	urn, text string
	// line is the unmasked source of text.
	line rawLine
	// raw is the text before masking, used to recognize the error: a secret may be any
	// word. It is never shown.
	raw string
	// printed marks an error that the program only printed, as Pulumi YAML does.
	printed bool
}

// sign is the text by which a diagnostic is recognized.
func (d diagnostic) sign() string { return cmp.Or(d.raw, d.text) }

// read processes one line of the event log and returns the line to log, or "". Events
// of other kinds are skipped, and a line that is none is missed: the outcome of an update
// never depends on its events.
func (e *events) read(line []byte) string {
	var event engineEvent
	if err := json.Unmarshal(line, &event); err != nil {
		e.missed = true
		return "an event of Pulumi cannot be read"
	}
	e.began, e.secrets = true, e.secrets || bytes.Contains(line, []byte(sig.Secret))
	switch {
	case event.Diagnostic != nil:
		return e.readDiagnostic(event.Diagnostic)
	case event.Policy != nil:
		return e.readPolicy(event.Policy)
	case event.Remediation != nil:
		return event.Remediation.text()
	case event.PolicyLoad != nil:
		e.policies.loading = true
	case event.Prelude != nil:
		e.policies.loading = false
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
	event.Message = withoutValues(event.Message)
	message := newRawText(event.Message)
	raw := tidy(message.raw)
	if raw == "" || event.Severity == "debug" || event.Ephemeral {
		return ""
	}
	if event.Severity == "warning" {
		e.leftCreates = append(e.leftCreates, leftCreates(event.Message)...)
	}
	if event.Severity == "error" && isProviderGone(raw) {
		note(&e.providerGone, event.URN)
	}
	if event.Severity == "error" && isCancelled(raw) {
		note(&e.cancelled, event.URN)
	}
	printed := event.Severity == "info#err"
	if printed || event.Severity == "info" {
		e.printed.add(event.Message)
	}
	if event.Severity == "error" && isUnsaved(raw) {
		e.unsaved = true
	}
	if event.Severity == "error" || printed {
		e.keepError(diagnostic{urn: event.URN, line: rawLine{text: message}, raw: raw, printed: printed})
	}
	switch name := event.Severity; {
	case name == "info":
		return rawLine{urn: event.URN, text: message}.masked(e.mask)
	case printed:
		return e.logOrDefer(rawLine{urn: event.URN, text: message}, isErrorLine(raw))
	default:
		return e.logOrDefer(rawLine{urn: event.URN, lead: name + ": ", text: message}, true)
	}
}

// logOrDefer returns the line to log now, or "" if it is logged later.
func (e *events) logOrDefer(l rawLine, warns bool) string {
	if e.deferLog == nil {
		return l.masked(e.mask)
	}
	e.deferLog(l, warns)
	return ""
}

// keepError keeps the first errors. A printed line counts if it claims to be an error;
// indented printed lines belong to the one before.
func (e *events) keepError(d diagnostic) {
	if d.printed && !isErrorLine(d.sign()) {
		if last := len(e.errors) - 1; last >= 0 && e.errors[last].printed && strings.HasPrefix(d.sign(), " ") {
			kept := &e.errors[last]
			kept.line.text = kept.line.text.and(d.line.text)
			kept.text, kept.raw = kept.line.masked(e.mask), bounded.Text(kept.raw+"\n"+d.raw, maxMessage)
		}
		return
	}
	if len(e.errors) < maxErrors {
		d.text, d.raw = d.line.masked(e.mask), bounded.Text(d.raw, maxMessage)
		e.errors = append(e.errors, d)
	}
}

// remask masks the errors again with all secrets known by now.
func (e *events) remask() {
	for n := range e.errors {
		e.errors[n].text = e.errors[n].line.masked(e.mask)
	}
}

func (e *events) readPolicy(event *apitype.PolicyEvent) string {
	e.policies.note(event)
	text := rawLine{lead: fmt.Sprintf("policy %s of %s: ", event.PolicyName, event.PolicyPackName), text: newRawText(event.Message)}
	if levelOf(event) == run.Mandatory {
		e.keepError(diagnostic{urn: event.ResourceURN, line: text})
	}
	text.urn = event.ResourceURN
	return e.logOrDefer(text, true)
}

func (e *events) readStart(event *stepEvent) string {
	e.registered = e.registered || event.Metadata.Type != stackType
	e.previewed.note(event)
	if e.notApproved == "" && !e.approved.approve(event) {
		e.notApproved = about(event.Metadata.URN, string(event.Metadata.Op))
	}
	if isWork(event) {
		e.inFlight++
	}
	e.resources.began(event)
	e.plugins.see(event)
	e.planned.note(event, e.counts.began(event))
	e.drifted.began(event)
	if !isCustom(event) {
		e.planned.noteOptions(event)
	}
	if e.isPlan(event) || e.drifted != nil {
		return ""
	}
	return step(event, steplog.Started)
}

func (e *events) readDone(event *stepEvent) string {
	meta := event.Metadata
	if meta.Type == stackType {
		e.registered = true // its outputs are the last thing that a program registers
		if meta.New != nil {
			e.planned.noteOutputs(event)
			e.outputs = knownOutputs(meta.New.Outputs)
		}
		return ""
	}
	e.reached = e.reached || isManaged(meta.Type, meta.URN)
	e.noteEnd(event)
	e.noteChanged(event)
	e.resources.done(event)
	e.planned.note(event, e.counts.done(event))
	e.planned.noteOptions(event)
	if e.drifted != nil {
		return e.drifted.done(event)
	}
	if e.isPlan(event) {
		return step(event, steplog.Planned)
	}
	return step(event, steplog.Done)
}

// isPlan reports whether the step is only what an update would do: a preview reads
// resources, and changes none.
func (e *events) isPlan(event *stepEvent) bool {
	op := event.Metadata.Op
	return e.preview && op != apitype.OpRead && op != apitype.OpRefresh
}

// isDefaultProvider reports whether the resource is a provider that the engine created by
// itself. The engine's summary does not count these.
func isDefaultProvider(typ, urn string) bool {
	name := urn[strings.LastIndex(urn, "::")+1:]
	return strings.HasPrefix(typ, providerType) && strings.HasPrefix(name, ":default")
}

func (e *events) readFailed(event *stepEvent) string {
	op := event.Metadata.Op
	isCreate := op == apitype.OpCreate || op == apitype.OpCreateReplacement
	// A resource that was created and only did not become ready is in the state: its
	// outcome is known, whatever the error says.
	if isCreate && event.Status != resource.StatusPartialFailure {
		note(&e.failedCreates, event.Metadata.URN)
	}
	e.noteEnd(event)
	e.counts.failed(event)
	e.planned.noteFailed(event)
	e.resources.failed(event)
	return step(event, steplog.Failed)
}

// step is the log line of a resource operation, or "" for an unchanged resource and for
// the stack itself.
func step(event *stepEvent, phase steplog.Phase) string {
	if event.Metadata.Op == apitype.OpSame || event.Metadata.Type == stackType {
		return ""
	}
	kind, name := kindAndName(event.Metadata.URN)
	if kind == "" {
		return fmt.Sprintf("%s %s", event.Metadata.Op, phase)
	}
	return steplog.Step{Type: kind, Name: name, Op: string(event.Metadata.Op), Phase: phase}.Line()
}

// isWork reports whether the step is a provider operation: an unchanged resource needs
// none, and a component ends whenever the program says so.
func isWork(event *stepEvent) bool {
	return event.Metadata.Provider != "" && event.Metadata.Op != apitype.OpSame
}

func (e *events) noteEnd(event *stepEvent) {
	if isWork(event) && e.inFlight > 0 {
		e.inFlight--
	}
}

func (e *events) progress() run.Progress {
	now := run.Progress{Done: e.changes(), InFlight: e.inFlight}
	// A refresh may come before the program.
	if e.startsProgram && !e.registered && now == (run.Progress{}) {
		now.Waiting = run.StartingProgram
	}
	return now
}

// changes are those that the steps so far have made.
func (e *events) changes() run.Changes {
	if e.missed {
		return run.Changes{Unknown: true}
	}
	return e.counts.changes()
}
