// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package exchange

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/flux-pulumi/pulumi-controller/internal/bounded"
	"github.com/flux-pulumi/pulumi-controller/internal/plan"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/runlog"
)

// The bounds of a decoded result, far above those that the driver keeps to.
const (
	maxMessage = 16 << 10
	maxName    = 1 << 10
	// maxWarnings bounds the warnings of a run, each of up to maxName bytes: together with
	// the rest they are the message of a condition.
	maxWarnings = 10
	maxURN      = 4 << 10
	maxURNs     = 1000
	// maxURNsSize bounds all URNs together, as they become part of a status, and etcd
	// accepts 1.5 MiB.
	maxURNsSize = 200 << 10
	// maxOutputs bounds the outputs that the status shows, in bytes, and maxPlain the
	// plain outputs, of which there are all or none.
	maxOutputs = 1 << 20
	maxPlain   = 8 << 20
)

// result is a Result with its plain outputs, which only the controller may read.
type result struct {
	Result run.Result
	Plain  *run.PlainOutputs `json:",omitempty"`
}

// packedResult is a result as the Secret holds it, and its size.
type packedResult struct {
	data []byte
	size bounded.Size
}

func pack(whole result) (packedResult, error) {
	data, size, err := bounded.Pack(whole)
	return packedResult{data, size}, err
}

// fits reports whether the other side accepts it.
func (p packedResult) fits() bool { return p.size.Fits(mostOfResult()) }

// sizeText describes the size of a result that does not fit.
func (p packedResult) sizeText() string {
	most := mostOfResult()
	if p.size.Data > most.Data {
		return fmt.Sprintf("%d bytes compressed, and at most %d fit into a Secret", p.size.Data, most.Data)
	}
	return fmt.Sprintf("%d bytes and %d items of lists and objects, and at most %d and %d are allowed",
		p.size.Text, p.size.Members, most.Text, most.Members)
}

// EncodeResult encodes the result for the Secret. If it does not fit, EncodeResult leaves
// some of it out and says so: first from what was done as much as necessary, then the log, then from
// the plan or drift and the list of resources as much as necessary, then the plain outputs, and then all outputs. A run that only
// reads outputs has failed in that case.
func EncodeResult(operation run.Operation, ended run.Result) ([]byte, error) {
	whole := result{Result: ended, Plain: ended.Plain}
	plain, err := json.Marshal(ended.Plain) // this may be longer, and is what the other side decodes
	if err != nil {
		return nil, err
	}
	if len(plain) > maxPlain {
		whole = withoutPlain(operation, whole, fmt.Sprintf("%d bytes, and at most %d are allowed", len(plain), maxPlain))
	}
	all, err := pack(whole)
	if err != nil || all.fits() {
		return all.data, err
	}
	if all, err = fitDone(&whole); err != nil || all.fits() {
		return all.data, err
	}
	whole.Result.Log = nil
	if all, err = pack(whole); err != nil || all.fits() {
		return all.data, err
	}
	if copied := copyPlan(&whole.Result); copied != nil {
		_, fits, err := copied.Fit(func(made plan.Plan) (bool, error) {
			*copied = made
			all, err = pack(whole)
			return all.fits(), err
		})
		if err != nil || fits {
			return all.data, err
		}
	}
	taken := listsOf(&whole.Result)
	whole, bare, err := packOutputs(operation, whole)
	if err != nil || taken.isEmpty() {
		return bare.data, err
	}
	return packWith(whole, bare, taken)
}

// packOutputs packs a result without lists, and returns what it contains.
func packOutputs(operation run.Operation, whole result) (result, packedResult, error) {
	all, err := pack(whole)
	if err != nil || all.fits() {
		return whole, all, err
	}
	whole = withoutPlain(operation, whole, all.sizeText())
	if all, err = pack(whole); err != nil || all.fits() {
		return whole, all, err
	}
	whole.Result.LeftOut += len(whole.Result.Outputs)
	whole.Result.Outputs = nil
	if all, err = pack(whole); err == nil && !all.fits() {
		return whole, packedResult{}, fmt.Errorf("the result %w, also without outputs: it has %s", ErrTooLarge, all.sizeText())
	}
	return whole, all, err
}

// withoutPlain drops the plain outputs, which are too large. A run that was to read them
// fails, or it would start again at once.
func withoutPlain(operation run.Operation, whole result, size string) result {
	if operation == run.ReadOutputs {
		whole.Result.Outcome = run.Failed
		whole.Result.Message = fmt.Sprintf("the outputs have %s: name fewer in spec.writeOutputsToSecret.keys", size)
	}
	whole.Plain = nil
	return whole
}

// DecodeResult decodes a result. now is the current time. The result is one that the
// driver may have produced: with a known outcome, within bounds, and not in the future.
func DecodeResult(data []byte, now time.Time) (*run.Result, error) {
	var read reported
	err := bounded.Unpack(data, mostOfResult(), &read)
	if err != nil {
		return nil, fmt.Errorf("reading the result of the run: %w", err)
	}
	ended := read.Result.Result
	if !slices.Contains(run.Outcomes(), ended.Outcome) {
		return nil, fmt.Errorf("reading the result of the run: unknown outcome %q", cut(string(ended.Outcome), maxName))
	}
	ended.Operation, ended.Approved = run.Operation(cut(string(ended.Operation), maxName)), cut(ended.Approved, maxName)
	ended.Plain = boundedPlain(read.Plain)
	ended.Message = cut(ended.Message, maxMessage)
	ended.Warnings = first(ended.Warnings, maxWarnings)
	for n := range ended.Warnings {
		ended.Warnings[n] = cut(ended.Warnings[n], maxName)
	}
	for _, text := range []*string{&ended.Project.Name, &ended.Project.Runtime, &ended.Backend, &ended.Permalink} {
		*text = cut(*text, maxName)
	}
	if !isLink(ended.Permalink) {
		ended.Permalink = ""
	}
	ended.UnknownCreates, ended.Forgotten = boundedURNs(ended.UnknownCreates), boundedURNs(ended.Forgotten)
	ended.Changes, ended.Violations = boundedChanges(ended.Changes), boundedViolations(ended.Violations)
	ended.Outputs, ended.LeftOut = boundedOutputs(ended.Outputs, boundedCount(ended.LeftOut))
	ended.Inventory = boundedInventory(ended.Inventory)
	ended.Log, ended.Tail = runlog.Bounded(ended.Log), nil
	if ended.Plan, err = read.plan(); err != nil {
		return nil, errors.New("reading the result of the run: its plan is not the expected JSON") // the error may quote it
	}
	ended.Done, ended.Drift = boundedDone(ended.Done), boundedDrift(ended.Drift)
	if ended.EndedAt.IsZero() || ended.EndedAt.After(now) {
		ended.EndedAt = now
	}
	if ended.StartedAt.IsZero() || ended.StartedAt.After(ended.EndedAt) {
		ended.StartedAt = ended.EndedAt
	}
	return &ended, nil
}

// isLink reports whether a text is the address of a web page and nothing else, as Pulumi prints it. It goes to chats
// and forges, which would read anything else in it as text of the controller.
func isLink(text string) bool {
	link, err := url.Parse(text)
	return err == nil && (link.Scheme == "https" || link.Scheme == "http") && link.Host != "" && link.User == nil &&
		link.String() == text && !strings.ContainsAny(text, `<>"`)
}

// reported is a result as pods of this version or an earlier one report it. Earlier ones had
// no plan, but its steps.
type reported struct {
	Result struct {
		run.Result
		Steps        json.RawMessage
		StepsLeftOut int
	}
	Plain *run.PlainOutputs
}

// plan returns the bounded plan, nil if there is none.
func (r reported) plan() (*plan.Plan, error) {
	made := r.Result.Plan
	if made == nil && len(r.Result.Steps)+r.Result.StepsLeftOut > 0 {
		text, err := json.Marshal(map[string]any{"steps": r.Result.Steps, "leftOut": r.Result.StepsLeftOut})
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(text, &made); err != nil {
			return nil, err
		}
	}
	if made == nil {
		return nil, nil
	}
	bounded := made.Bounded().Untried()
	return &bounded, nil
}

// boundedURNs returns sorted URNs without duplicates.
func boundedURNs(urns []string) []string {
	bounded := slices.Clone(urns)
	for i, urn := range bounded {
		bounded[i] = cut(urn, maxURN)
	}
	slices.Sort(bounded)
	bounded = slices.Compact(bounded)
	bounded = first(bounded, maxURNs)
	size := 0
	for i, urn := range bounded {
		if size += len(urn); size > maxURNsSize {
			return bounded[:i]
		}
	}
	return bounded
}

// boundedOutputs returns no more outputs than the status of a Stack could hold, and how
// many are left out.
func boundedOutputs(reported map[string]json.RawMessage, leftOut int) (map[string]json.RawMessage, int) {
	if reported == nil {
		return nil, leftOut
	}
	bounded, size := make(map[string]json.RawMessage), 0
	for _, name := range slices.Sorted(maps.Keys(reported)) {
		if size += outputSize(name, reported[name]); size > maxOutputs {
			break
		}
		bounded[name] = reported[name]
	}
	return bounded, boundedCount(leftOut + len(reported) - len(bounded))
}

// outputSize estimates the memory that an output takes.
func outputSize(name string, value json.RawMessage) int { return len(name) + len(value) + 64 }

// boundedPlain drops plain outputs that the driver cannot have read: it reports larger
// ones itself.
func boundedPlain(reported *run.PlainOutputs) *run.PlainOutputs {
	if plainSize(reported) > maxPlain {
		return nil
	}
	return reported
}

// plainSize returns the size of plain outputs, in bytes. maxMembers bounds their number.
func plainSize(plain *run.PlainOutputs) int {
	if plain == nil {
		return 0
	}
	size := 0
	for _, key := range plain.Wanted.Keys {
		size += len(key)
	}
	for name, value := range plain.Values {
		size += len(name) + len(value)
	}
	return size
}

// boundedChanges returns numbers that can be added up.
func boundedChanges(reported run.Changes) run.Changes {
	return run.Changes{
		Created: boundedCount(reported.Created), Updated: boundedCount(reported.Updated), Deleted: boundedCount(reported.Deleted),
		Replaced: boundedCount(reported.Replaced), Same: boundedCount(reported.Same), Retained: boundedCount(reported.Retained), Unknown: reported.Unknown,
	}
}

// cut shortens a text to a bound, without splitting a character.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return strings.Clone(text[:most]) // does not keep the rest in memory
}
