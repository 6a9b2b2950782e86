// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

// ofState is a secret that only the state knows to be one.
const ofState = "CANARYofstate71"

// frank is a Thing whose provider shows its secret in the warnings and errors of the operations.
func frank(properties string) string {
	return "secretValue: " + ofState + "\n      echoInput: true\n      " + properties
}

// shows checks that the log has the text, and that neither it nor the result has the secret of the state.
func (l *lab) shows(result run.Result, texts ...string) {
	l.Helper()
	said := strings.Join(append(l.saidLines(), result.Message), "\n")
	for _, text := range texts {
		l.Expect(said).To(ContainSubstring(text))
	}
	l.Expect(said).NotTo(ContainSubstring(ofState))
}

// A destroy deletes the secrets from the state before its diagnostics are logged.
func TestSecretsOfAStateThatIsDestroyedAreMasked(t *testing.T) {
	t.Parallel()
	const warning = `lab:index:Thing (a): warning: careful (input was "***")`
	for name, test := range map[string]struct {
		things []string
		// compressed says that the backend compresses states.
		compressed bool
		edit       func(*lab, *run.Run)
		outcome    run.Outcome
		shows      []string
		calls      []string
		variant    bool
	}{
		"that succeeds": {
			things: []string{frank("warnings: {delete: careful}")}, outcome: run.Succeeded, shows: []string{warning},
			calls: []string{"stack export", "destroy", "stack rm"},
		},
		"that refreshes": {
			variant: true,
			things:  []string{frank("warnings: {read: careful}")}, outcome: run.Succeeded, shows: []string{warning},
			edit:  func(_ *lab, r *run.Run) { r.Options.Refresh = true },
			calls: []string{"stack export", "destroy", "stack rm"},
		},
		"that fails after it has deleted another resource": {
			variant: true,
			things:  []string{"failures: {delete: no luck}", frank("warnings: {delete: careful}")}, outcome: run.Failed,
			shows: []string{strings.Replace(warning, "(a)", "(b)", 1), "lab:index:Thing (a): no luck"},
			calls: []string{"stack export", "destroy"},
		},
		"that fails": {
			things: []string{frank("failures: {delete: no luck}")}, outcome: run.Failed, shows: []string{`no luck (input was "***")`},
			calls: []string{"stack export", "destroy"},
		},
		"whose stack cannot be removed": {
			things: []string{frank("value: x")}, outcome: run.Failed, shows: []string{"the stack of *** stays"},
			edit: func(l *lab, _ *run.Run) {
				l.replacing("stack rm", "echo 'error: the stack of "+ofState+" stays' >&2; exit 1")
			},
			calls: []string{"stack export", "destroy"},
		},
		"of a backend whose state cannot be seen": {
			variant: true,
			things:  []string{"value: x"}, compressed: true, outcome: run.Succeeded,
			calls: []string{"stack export", "destroy", "stack rm"},
		},
		"that has none": {
			variant: true,
			things:  []string{"warnings: {delete: careful}"}, outcome: run.Succeeded, shows: []string{"warning: careful"},
			calls: []string{"destroy", "stack rm"},
		},
		"that does not warn": {
			variant: true,
			things:  []string{"value: x"}, outcome: run.Succeeded, calls: []string{"destroy", "stack rm"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if test.variant {
				short.Skip(t)
			}
			t.Parallel()
			l := newLab(t).withProvider()
			r := l.update(l.thing(test.things...))
			if test.compressed {
				r.Env["PULUMI_DIY_BACKEND_GZIP"] = "true"
			}
			l.givenRun(r, nil)
			env := r.Env
			r = l.destroy()
			r.Env = env
			if test.edit != nil {
				test.edit(l, &r)
			}
			result := l.do(t.Context(), r)
			l.Expect(result.Outcome).To(Equal(test.outcome), result.Message)
			l.shows(result, test.shows...)
			l.Expect(l.newCalls()).To(Equal(test.calls))
		})
	}
}

func TestSecretsOfTheStateAreMaskedInADestroyThatRunsTheProgram(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	l := newLab(t).withProvider()
	l.given(l.thing(frank("warnings: {delete: careful}")))
	r := l.update(l.thing("value: x"))
	r.Operation, r.Options.RunProgram = run.Destroy, true
	result := l.do(t.Context(), r)
	l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
	l.shows(result, `careful (input was "***")`)
}

// A resource that is retained leaves the state, and its provider is not called.
func TestSecretsOfARetainedResourceAreMasked(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	l := newLab(t).withProvider()
	program := l.thing(frank("warnings: {read: careful}")) + "    options: {retainOnDelete: true}\n"
	l.given(program)
	r := l.destroy()
	r.Options.Refresh = true
	result := l.do(t.Context(), r)
	l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
	l.Expect(l.things()).To(Equal(1))
	l.shows(result, `careful (input was "***")`)
}

func TestSecretsOfTheStateAreMaskedInADestroyThatIsCancelled(t *testing.T) {
	t.Parallel()
	l := newLab(t).withProvider()
	l.given(l.thing(frank("hang: delete")))
	l.Expect(os.RemoveAll(filepath.Join(l.cloud, "journal.jsonl"))).To(Succeed())
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() { l.awaitCreate(); cancel(errors.New("enough")) }()
	result := l.do(ctx, l.destroy())
	l.Expect(result.Outcome).To(Equal(run.Cancelled))
	l.shows(result, "cancelled: enough", `(input was "***")`)
}

// The refresh of a recovery drops what is gone from the state.
func TestSecretsOfTheStateAreMaskedInARecovery(t *testing.T) {
	t.Parallel()
	b := newBeside(t)
	b.given(b.thing(frank("warnings: {read: careful}")))
	lost, _ := b.lost()
	b.interrupt("a")
	b.Expect(os.RemoveAll(filepath.Join(b.cloud, "things"))).To(Succeed())
	result := b.do(t.Context(), b.recovery(lost))
	b.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
	b.Expect(b.state()).NotTo(ContainSubstring(urnOf("a")))
	b.shows(result, `careful (input was "***")`)
	b.Expect(slices.Compact(b.newCalls())[:2]).To(Equal([]string{"stack export", "refresh"}))
}

func TestSecretsOfTheStateAreMaskedInUpdatesAndPreviews(t *testing.T) {
	t.Parallel()
	l := newLab(t).withProvider()
	program := func(properties string) run.Run { return l.update(l.thing(frank(properties))) }
	l.givenRun(program("warnings: {read: careful}"), nil)
	for _, operation := range []run.Operation{run.Preview, run.Update} {
		r := program("warnings: {read: careful}")
		r.Operation, r.Options.Refresh = operation, true
		result := l.do(t.Context(), r)
		l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
		l.shows(result, `careful (input was "***")`)
	}
	l.Expect(l.newCalls()).To(Equal([]string{"preview", "stack export", "up", "stack export"}))
}

func TestAWarningWithoutSecretsInTheStateCostsNoProcess(t *testing.T) {
	t.Parallel()
	l := newLab(t).withProvider()
	program := func(properties string) run.Run { return l.update(l.thing("warnings: {read: careful}" + properties)) }
	for _, operation := range []run.Operation{run.Update, run.Preview, run.Update} {
		r := program("")
		r.Operation, r.Options.Refresh = operation, true
		result := l.do(t.Context(), r)
		l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
	}
	l.shows(run.Result{}, "careful")
	l.Expect(l.newCalls()).To(Equal([]string{"stack init", "up", "preview", "up"}))

	// A secret that is cut out of a long event counts, and so does one that the state has and the program has not.
	long := "\n      secretValue: " + strings.Repeat("x", maxWhole)
	for _, properties := range []string{long, ""} {
		r := program(properties)
		r.Options.Refresh = true
		l.Expect(l.do(t.Context(), r).Outcome).To(Equal(run.Succeeded))
		l.Expect(l.newCalls()).To(Equal([]string{"up", "stack export"}))
	}
}

// What cannot be masked is not shown.
func TestDiagnosticsAreNotShownIfTheStateCannotBeRead(t *testing.T) {
	t.Parallel()
	const failing = "echo 'error: boom' >&2; exit 1"
	l := newLab(t).withProvider().withStack()
	l.exporting(failing)
	const why = "may contain secrets of the state, which could not be read: boom"
	result := l.do(t.Context(), l.update(l.thing(frank("failures: {create: no luck}\n      warnings: {create: careful}"))))
	l.Expect(result.Outcome).To(Equal(run.Failed))
	l.Expect(result.Message).To(Equal("lab:index:Thing (a): the error is not shown, because it " + why))
	l.shows(result, " are not shown, because they "+why)
	l.Expect(l.saidLines()).To(ContainElement("lab:index:Thing (a): create failed"), "what happens is logged all the same")

	l = newLab(t).withProvider()
	l.given(l.thing(frank("warnings: {delete: careful}")))
	l.exporting(failing)
	result = l.do(t.Context(), l.destroy())
	l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
	l.shows(result)
}

// The outputs are printed in plain text by the process that says why they cannot be read.
func TestSecretsAreMaskedInWhyOutputsCannotBeRead(t *testing.T) {
	t.Parallel()
	l := newLab(t).withProvider().withStack()
	l.replacing("stack output", "echo 'error: bad output "+ofState+"' >&2; exit 1")
	result := l.do(t.Context(), reading(l.update(l.thing(frank("value: x"))+"outputs: {o: hello}\n")))
	l.Expect(result.Outcome).To(Equal(run.Succeeded), "the update has not failed: %s", result.Message)
	l.Expect(result.Plain).To(BeNil())
	l.Expect(result.Outputs).To(HaveKey("o"))
	l.shows(result, "the outputs cannot be read: bad output ***")
}
