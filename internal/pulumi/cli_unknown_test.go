// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

// begin returns the PID of the provider that has started to create the thing.
func (l *lab) begin(name string) (pid int) {
	l.Helper()
	l.Eventually(func() int {
		text, _ := os.ReadFile(filepath.Join(l.cloud, "journal.jsonl"))
		for line := range strings.Lines(string(text)) {
			var entry struct {
				PID      int
				Op, Name string
			}
			if json.Unmarshal([]byte(line), &entry) == nil && entry.Op == "create" && entry.Name == name {
				pid = entry.PID
			}
		}
		return pid
	}).ShouldNot(BeZero())
	return pid
}

// twoProviders is a program with one thing at each of two providers, which are separate
// processes.
func (l *lab) twoProviders(ofOne, ofOther string) string {
	return fmt.Sprintf(`
resources:
  one: {type: "pulumi:providers:lab", properties: {directory: %[1]q}}
  other: {type: "pulumi:providers:lab", properties: {directory: %[1]q}}
  a: {type: "lab:index:Thing", properties: {name: a, %[2]s}, options: {provider: "${one}"}}
  b: {type: "lab:index:Thing", properties: {name: b, %[3]s}, options: {provider: "${other}"}}
`, l.cloud, ofOne, ofOther)
}

// hearing returns the reports of creations with unknown outcome.
func (l *lab) hearing() <-chan []string {
	reported := make(chan []string, 10)
	l.reports.unknownCreates = func(urns []string) { reported <- urns }
	return reported
}

func TestAnUnknownCreationIsReportedDuringTheRun(t *testing.T) {
	t.Parallel()
	l := newLab(t).withProvider().withStack()
	reported := l.hearing()
	results := l.start(t.Context(), l.update(l.twoProviders("delays: {afterCreate: 1h}", "hold: create")))
	l.begin("b")
	l.Expect(syscall.Kill(l.begin("a"), syscall.SIGKILL)).To(Succeed())
	var result run.Result
	l.Eventually(reported).Should(Receive(ConsistOf(HaveSuffix("::a"))))
	l.Expect(results).NotTo(Receive(), "b is still being created")
	l.release()
	l.Eventually(results).Should(Receive(&result))
	l.Expect(result.UnknownCreates).To(ConsistOf(HaveSuffix("::a")), "the result says the same")
	l.Expect(reported).NotTo(Receive(), "once is enough")
	l.Expect(l.state()).To(And(ContainSubstring("Thing::b"), Not(ContainSubstring("pending_operations"))))
}

// A creation given up because its run is to stop has an unknown outcome, even while
// another one is still awaited.
func TestAnAbandonedCreationIsReportedWhileTheRunStops(t *testing.T) {
	t.Parallel()
	l := newLab(t).withProvider().withStack()
	reported := l.hearing()
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	results := l.start(ctx, l.update(l.twoProviders("hang: create", "hold: create")))
	l.begin("a")
	l.begin("b")
	cancel(errors.New("the controller is shutting down"))
	var result run.Result
	l.Eventually(reported).Should(Receive(ConsistOf(HaveSuffix("::a"))))
	l.release()
	l.Eventually(results).Should(Receive(&result))
	l.Expect(result.UnknownCreates).To(ConsistOf(HaveSuffix("::a")))
}

// A program may name a resource after a secret.
func TestASecretInAURNIsNotSeen(t *testing.T) {
	t.Parallel()
	const canary, masked = "CANARYurn17", "urn:pulumi:dev::demo::lab:index:Thing::***"
	named := func(b beside, properties string) run.Run {
		r := b.update(strings.ReplaceAll(b.thing(properties), "  a:\n", "  "+canary+":\n"))
		r.Masks = []string{canary}
		return r
	}
	recovery := func(b beside, lost run.Run) run.Run {
		r := b.recovery(lost)
		r.Masks = lost.Masks
		return r
	}
	t.Run("of an unknown creation", func(t *testing.T) {
		t.Parallel()
		b := newBeside(t)
		b.withStack()
		reported := b.hearing()
		lost := named(b, "delays: {create: 1h}")
		result := b.killed(lost, "pulumi-resource")
		b.Expect(result.UnknownCreates).To(Equal([]string{masked}))
		b.Expect(reported).To(Receive(Equal([]string{masked})))

		clearing := recovery(b, lost)
		clearing.ClearPendingCreates, clearing.UnknownCreates = true, result.UnknownCreates
		result = b.do(t.Context(), clearing)
		b.Expect(result.Forgotten).To(Equal([]string{masked}), result.Message)
		b.Expect(b.saidLines()).NotTo(ContainElement(ContainSubstring(canary)))
	})
	t.Run("of an update in flight", func(t *testing.T) {
		short.Skip(t)
		t.Parallel()
		b := newBeside(t)
		b.Expect(b.do(t.Context(), named(b, "value: x")).Outcome).To(Equal(run.Succeeded))
		lost := named(b, "value: y\n      delays: {update: 1h}")
		b.Expect(b.killed(lost, "pulumi").Interrupted).To(BeTrue())
		b.drift("a", "half done")
		result := b.do(t.Context(), recovery(b, lost))
		b.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
		b.Expect(b.state()).To(And(Not(ContainSubstring("pending_operations")), ContainSubstring("half done")))
		calls, err := os.ReadFile(b.calls)
		b.Expect(err).NotTo(HaveOccurred())
		b.Expect(string(calls)).To(And(Not(ContainSubstring(canary)), ContainSubstring("--target=urn:pulumi:dev::demo::lab:index:Thing::**")))
	})
}

func TestARunThatSucceedsReportsNothingUnknown(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	l := newLab(t).withProvider().withStack()
	reported := l.hearing()
	// One after the other: after a failure the engine does not begin the rest.
	for _, failure := range []string{`create: "rpc error: boom"`, `partialCreate: "error reading from server: EOF"`} {
		result := l.do(t.Context(), l.update(l.thing("failures: {"+failure+"}")))
		l.Expect(result.Outcome).To(Equal(run.Failed))
		l.Expect(result.UnknownCreates).To(BeEmpty(), "the one was not made, and the other is in the state")
	}
	l.Expect(l.state()).To(ContainSubstring("Thing::a"))
	result := l.do(t.Context(), l.update(l.thing("value: x")))
	l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
	l.Expect(reported).NotTo(Receive())
}
