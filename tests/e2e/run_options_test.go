// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/cloud"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

// edited changes the value of a thing behind Pulumi's back.
func (t *tenant) edited(name, value string) {
	t.test.Helper()
	things, err := t.cloud.Things()
	t.Expect(err).NotTo(HaveOccurred())
	for _, thing := range things {
		if thing.Name == name {
			t.Expect(t.cloud.Edit(thing.ID, func(thing *cloud.Thing) { thing.Value = &value })).To(Succeed())
			return
		}
	}
	t.test.Fatalf("there is no thing %s", name)
}

func refreshed(s *v1.Stack) { s.Spec.Refresh = true }

// resynced makes a Stack run at an interval even if nothing has changed.
func resynced(interval time.Duration) func(*v1.Stack) {
	return func(s *v1.Stack) {
		s.Spec.ContinueResyncOnCommitMatch, s.Spec.Interval = true, &metav1.Duration{Duration: interval}
	}
}

func TestARefreshAtEachIntervalUndoesDrift(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	u := newTenant(t, shared)
	u.apply(u.program(twoThings("x", "y")))
	stack := u.stack(fromProgram, refreshed, resynced(2*time.Second))
	u.apply(stack)
	u.awaitReady(stack)

	u.edited("b", "drifted")
	u.Eventually(u.things).Should(Equal(map[string]string{"b": "x", "c": "y"}))
	u.Expect(u.cloud.Created("b")).To(Equal(1))
	u.Expect(u.cloud.Created("c")).To(Equal(1))
	calls := u.verbs()
	u.Expect(calls[0]).To(Equal("stack init"))
	u.Expect(calls[1:]).To(HaveEach("up"), "a run is one process")
}

func TestAStackIsRunAtEachIntervalOnlyWhereItAsksForIt(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	u := newTenant(t, shared)
	u.apply(u.program(oneThing("one")))
	stack := u.stack(fromProgram, resynced(time.Second))
	u.apply(stack)
	u.Eventually(func() int { return len(u.verbs()) }).Should(BeNumerically(">=", 5), "the first run has two, the others one")

	edit(u, stack, func(s *v1.Stack) { s.Spec.ContinueResyncOnCommitMatch = false })
	u.awaitReady(stack)
	calls, before := len(u.verbs()), u.reconcilesOf(stack)
	u.Eventually(func() int { return u.reconcilesOf(stack) }).Should(BeNumerically(">=", before+3))
	u.Expect(u.verbs()).To(HaveLen(calls))
}

func TestUnexpectedChangesAreReportedUntilTheyAreUndone(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	u := newTenant(t, shared)
	u.apply(u.program(twoThings("x", "y")))
	stack := u.stack(fromProgram, refreshed, resynced(2*time.Second), retriedEvery(time.Second), func(s *v1.Stack) {
		s.Spec.ExpectNoRefreshChanges = true
	})
	u.apply(stack)
	u.awaitReady(stack)

	u.edited("b", "drifted")
	u.awaitFailure(stack, v1.RefreshFailedReason, "lab:index:Thing (b) is changed")
	u.Expect(conditions.GetMessage(stack, meta.ReadyCondition)).NotTo(ContainSubstring("(c)"))
	u.Eventually(func(g Gomega) {
		g.Expect(u.Get(u.ctx, keyOf(stack), stack)).To(Succeed())
		g.Expect(stack.Status.Failures).To(BeNumerically(">=", 3), "it keeps failing")
	}).Should(Succeed())
	u.Expect(u.things()).To(Equal(map[string]string{"b": "drifted", "c": "y"}), "and nothing is changed")

	u.edited("b", "x")
	u.awaitReady(stack)

	u.edited("b", "drifted")
	u.awaitFailure(stack, v1.RefreshFailedReason, "lab:index:Thing (b) is changed")
	edit(u, stack, func(s *v1.Stack) { s.Spec.ExpectNoRefreshChanges = false })
	u.awaitReady(stack)
	u.Expect(u.things()).To(Equal(map[string]string{"b": "x", "c": "y"}))
}

func TestOnlyTheTargetsAreUpdated(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	u := newTenant(t, shared)
	program := u.program(twoThings("x", "y"))
	u.apply(program)
	stack := u.stack(fromProgram, destroyed)
	u.apply(stack)
	u.awaitReady(stack)

	const urn = "urn:pulumi:dev::app::lab:index:Thing::b"
	edit(u, stack, func(s *v1.Stack) { s.Spec.Targets = []string{urn} })
	u.awaitReady(stack)
	edit(u, program, func(p *v1.Program) { u.setProgram(p, twoThings("x2", "y2")) })
	u.awaitReady(stack, programEdited(program))
	u.Expect(u.things()).To(Equal(map[string]string{"b": "x2", "c": "y"}))

	edit(u, stack, func(s *v1.Stack) { s.Spec.TargetDependents = true })
	u.awaitReady(stack)
	u.Expect(u.things()).To(Equal(map[string]string{"b": "x2", "c": "y2"}), "c depends on b")

	u.delete(stack)
	u.awaitGone(stack)
	u.Expect(u.things()).To(BeEmpty(), "a destroy does not stop at the targets")
}

// backendFiles returns the names and times of the files in the tenant's backend.
func (t *tenant) backendFiles() map[string]string {
	t.test.Helper()
	files := map[string]string{}
	t.Expect(filepath.Walk(t.backend, func(path string, info os.FileInfo, err error) error {
		if err == nil && !info.IsDir() {
			files[path] = info.ModTime().String()
		}
		return err
	})).To(Succeed())
	return files
}

// awaitPreviewed waits until the Stack shows what an update would do.
func (t *tenant) awaitPreviewed(stack *v1.Stack, found string) {
	t.test.Helper()
	t.Eventually(func(g Gomega) {
		g.Expect(t.Get(t.ctx, keyOf(stack), stack)).To(Succeed())
		g.Expect(conditions.IsReady(stack)).To(BeTrue(), "Ready is %v", conditions.Get(stack, meta.ReadyCondition))
		g.Expect(conditions.GetMessage(stack, meta.ReadyCondition)).To(
			Equal("Previewed revision " + stack.Status.LastAttemptedRevision + ": " + found))
		g.Expect(stack.Status.ObservedGeneration).To(Equal(stack.Generation))
	}).Should(Succeed())
	t.checkSettled(stack)
}

func TestAPreviewReportsWhatAnUpdateWouldDoAndDoesNothing(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	u := newTenant(t, shared)
	program := u.program(oneThing("one"))
	u.apply(program)
	stack := u.stack(fromProgram, destroyed)
	u.apply(stack)
	u.awaitReady(stack)
	applied, files, calls := stack.Status, u.backendFiles(), len(u.verbs())

	edit(u, stack, func(s *v1.Stack) { s.Spec.Preview = true })
	u.awaitPreviewed(stack, "1 unchanged")
	edit(u, program, func(p *v1.Program) { u.setProgram(p, oneThing("two")) })
	u.awaitPreviewed(stack, "1 to update")
	edit(u, program, func(p *v1.Program) { u.setProgram(p, twoThings("x", "y")) })
	u.awaitPreviewed(stack, "2 to create, 1 to delete")

	u.Expect(stack.Status.LastUpdate.Type).To(Equal(v1.UpdateTypePreview))
	u.Expect(stack.Status.LastAppliedRevision).To(Equal(applied.LastAppliedRevision))
	u.Expect(stack.Status.LastAppliedDigest).To(Equal(applied.LastAppliedDigest))
	u.Expect(stack.Status.Outputs).To(Equal(applied.Outputs))
	u.Expect(u.verbs()[calls:]).To(HaveEach("preview"))
	u.Expect(u.verbs()[calls:]).To(HaveLen(3), "a preview is one process")

	edit(u, program, func(p *v1.Program) { u.setProgram(p, "outputs: {o: x}") })
	u.awaitFailure(stack, v1.PreviewFailedReason, "the program has no resources, and the stack has 1", "set program.resources of the Program to {}")
	edit(u, program, func(p *v1.Program) { u.setProgram(p, "resources: {}\noutputs: {o: x}") })
	u.awaitPreviewed(stack, "1 to delete")
	edit(u, program, func(p *v1.Program) { u.setProgram(p, "resources: {}\noutputs: {o: \"${nothing}\"}") })
	u.awaitFailure(stack, v1.PreviewFailedReason, "nothing")

	u.delete(stack)
	u.awaitGone(stack)
	u.Expect(u.backendFiles()).To(Equal(files), "neither written nor locked")
	u.Expect(u.things()).To(Equal(map[string]string{"a": "one"}))
	u.awaitEvent(stack, "Warning", v1.NotDestroyedReason, "was not destroyed")
}

func TestAPreviewDoesNotCreateTheStack(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	u := newTenant(t, shared)
	u.apply(u.program(oneThing("one")))
	stack := u.stack(fromProgram, destroyed, func(s *v1.Stack) { s.Spec.Preview = true })
	u.apply(stack)
	u.awaitFailure(stack, v1.PreviewFailedReason, "the stack does not exist in the backend, and a preview does not create it")
	u.Expect(u.stateFile("app", "dev")).NotTo(BeAnExistingFile())

	edit(u, stack, func(s *v1.Stack) { s.Spec.Preview = false })
	u.awaitReady(stack)
	u.Expect(u.things()).To(Equal(map[string]string{"a": "one"}))
}

func TestALockIsAskedForAgainSoonWhereTheStackWantsIt(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	u := newTenant(t, shared)
	program := u.program(oneThing("one"))
	u.apply(program)
	stack := u.stack(fromProgram, func(s *v1.Stack) { s.Spec.RetryOnUpdateConflict = true })
	u.apply(stack)
	u.awaitReady(stack)
	lock := filepath.Join(u.backend, ".pulumi", "locks", "organization", "app", "dev", "0.json")
	u.Expect(os.MkdirAll(filepath.Dir(lock), 0o755)).To(Succeed())
	u.Expect(os.WriteFile(lock, []byte(`{"pid":7,"username":"bob","hostname":"elsewhere","timestamp":"2026-01-02T03:04:05Z"}`), 0o600)).To(Succeed())

	edit(u, program, func(p *v1.Program) { u.setProgram(p, oneThing("two")) })
	u.awaitFailure(stack, v1.StackLockedReason, "created by bob@elsewhere (pid 7) at 2026-01-02T03:04:05Z")
	u.Expect(lock).To(BeARegularFile(), "a foreign lock is never broken")
	u.Expect(os.Remove(lock)).To(Succeed())
	// The interval, and so the retry interval, is an hour.
	u.awaitReady(stack, programEdited(program))
	u.Expect(u.things()).To(Equal(map[string]string{"a": "two"}))
}

func TestABackendOutOfReachIsAskedAgainSoon(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	u := newTenant(t, shared)
	u.apply(u.program(oneThing("one")))
	stack := u.stack(fromProgram, func(s *v1.Stack) {
		s.Spec.Backend = "s3://bucket?endpoint=http://127.0.0.1:1&region=us-east-1&s3ForcePathStyle=true"
		s.Spec.EnvRefs["AWS_ACCESS_KEY_ID"], s.Spec.EnvRefs["AWS_SECRET_ACCESS_KEY"] = literal("x"), literal("not-a-key")
	})
	u.apply(stack)
	u.awaitFailure(stack, v1.BackendUnavailableReason, "connection refused")
	// The interval, and so the retry interval, is an hour.
	u.Eventually(func(g Gomega) {
		g.Expect(u.Get(u.ctx, keyOf(stack), stack)).To(Succeed())
		g.Expect(stack.Status.Failures).To(BeNumerically(">=", 2))
	}).Should(Succeed())
}
