// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

// reported collects what runs report of their stacks.
func (b beside) reported() func() []run.Found {
	var mu sync.Mutex
	var all []run.Found
	b.reports.found = func(_ context.Context, found run.Found) error {
		mu.Lock()
		defer mu.Unlock()
		all = append(all, found)
		return nil
	}
	return func() []run.Found {
		mu.Lock()
		defer mu.Unlock()
		return all
	}
}

// lose has the directory of the backend be an empty one, like a volume that is not mounted.
func (b beside) lose() {
	b.Helper()
	b.Expect(os.Rename(filepath.Join(b.backend, ".pulumi"), filepath.Join(b.backend, "away"))).To(Succeed())
}

func TestWhereTheStackIsIsReportedBeforeAnythingIsCreated(t *testing.T) {
	t.Parallel()
	b := newBeside(t)
	reported, demo := b.reported(), run.Project{Name: "demo", Runtime: "yaml"}
	first := b.update(b.thing("value: x\n      hold: create"))
	ctx, kill := context.WithCancel(t.Context())
	defer kill()
	results := make(chan run.Result, 1)
	go func() { results <- b.do(ctx, first) }()
	b.awaitCreate()
	b.Expect(reported()).To(Equal([]run.Found{{Project: demo, Backend: "file://" + b.backend}}))
	b.release()
	var result run.Result
	b.Eventually(results).Should(Receive(&result))
	b.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)

	next := b.update(b.thing("value: y"))
	next.Known, next.KnownBackend = result.Project, result.Backend
	b.Expect(b.do(t.Context(), next).Outcome).To(Equal(run.Succeeded))
	b.Expect(reported()).To(HaveLen(1), "nothing is new")

	moved := b.update(b.thing("value: y"))
	moved.Known, moved.KnownBackend = result.Project, "file:///elsewhere"
	b.Expect(b.do(t.Context(), moved).Outcome).To(Equal(run.Succeeded))
	b.Expect(reported()[1:]).To(Equal([]run.Found{{Project: demo, Backend: "file://" + b.backend}}))
}

// The files of the run alone say which stack it was.
func TestARecoveryInABackendThatHasLostTheStackFails(t *testing.T) {
	t.Parallel()
	b := newBeside(t)
	b.withStack()
	lost := b.update(b.thing("value: x\n      hold: create"))
	b.killed(lost, "pulumi")
	b.lose()
	recovery := b.recovery(lost)
	recovery.Project = run.Project{Name: "renamed", Runtime: "yaml"}
	result := b.do(t.Context(), recovery)
	b.Expect(result.Outcome).To(Equal(run.Failed))
	b.Expect(result.Message).To(ContainSubstring("the stack organization/demo/dev has been updated before, and is no longer in the backend"))
}

func TestADestroyThatIsInterruptedIsNotTakenForDone(t *testing.T) {
	t.Parallel()
	b := newBeside(t)
	made := b.given(b.thing("value: x\n      hold: delete"))
	lost := b.destroy()
	lost.Known, lost.KnownBackend = made.Project, made.Backend
	result := b.killed(lost, "pulumi")
	b.Expect(result.Interrupted).To(BeTrue())
	b.Expect(result.Emptied).To(BeFalse())
	b.lose()
	recovery := b.recovery(lost)
	recovery.Known, recovery.KnownBackend = made.Project, made.Backend
	result = b.do(t.Context(), recovery)
	b.Expect(result.Outcome).To(Equal(run.Failed))
	b.Expect(result.Message).To(ContainSubstring("is no longer in the backend"))
}

// A destroy that was interrupted after it had removed the stack.
func TestADestroyThatHadDeletedAllIsTakenForDone(t *testing.T) {
	t.Parallel()
	b := newBeside(t)
	made := b.given(b.thing("value: x"))
	reported := b.reported()
	lost := b.destroy()
	lost.Known, lost.KnownBackend = made.Project, made.Backend
	result := b.do(t.Context(), lost)
	b.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
	b.Expect(result.Emptied).To(BeTrue())
	b.Expect(result.Changes.Deleted).To(Equal(made.Changes.Created))
	b.Expect(reported()).To(Equal([]run.Found{{Emptied: true}}))

	recovery := b.recovery(lost)
	recovery.Known, recovery.KnownBackend = made.Project, made.Backend
	result = b.do(t.Context(), recovery)
	b.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
	b.Expect(result.Emptied).To(BeTrue())
}

// Another backend has an older copy of the stack, which does not know what was in flight.
func TestARecoveryInAnotherBackendThatHasTheStackFails(t *testing.T) {
	t.Parallel()
	b := newBeside(t)
	made := b.given(b.thing("value: x"))
	copied := t.TempDir()
	b.Expect(os.CopyFS(copied, os.DirFS(b.backend))).To(Succeed())
	lost := b.update(b.thing("value: y\n      hold: update"))
	b.killed(lost, "pulumi")
	recovery := b.recovery(lost)
	recovery.Backend, recovery.Known, recovery.KnownBackend = "file://"+copied, made.Project, made.Backend
	recovery.Interrupted[0].Backend = made.Backend
	result := b.do(t.Context(), recovery)
	b.Expect(result.Outcome).To(Equal(run.Failed))
	b.Expect(result.Message).To(And(ContainSubstring("was interrupted in another backend"), ContainSubstring("last seen in another backend, "+made.Backend), ContainSubstring("back to that backend until the run is recovered")))

	recovery.ID, recovery.Interrupted[0].Backend = b.update("").ID, "file://"+copied
	result = b.do(t.Context(), recovery)
	b.Expect(result.Outcome).To(Equal(run.Succeeded), "the run was in this one: %s", result.Message)
}

// A backend that was moved has the lock of the run that was interrupted in it.
func TestARecoveryInABackendThatWasMovedSucceeds(t *testing.T) {
	t.Parallel()
	b := newBeside(t)
	made := b.given(b.thing("value: x"))
	from := time.Now()
	lost := b.update(b.thing("value: y\n      hold: update"))
	b.killed(lost, "pulumi")
	b.release()
	reported := b.reported()
	moved := filepath.Join(t.TempDir(), "moved")
	b.Expect(os.CopyFS(moved, os.DirFS(b.backend))).To(Succeed())
	recover := func(from time.Time) run.Result {
		recovery := b.recovery(lost)
		recovery.Backend, recovery.Known, recovery.KnownBackend = "file://"+moved, made.Project, made.Backend
		recovery.Interrupted[0].Backend, recovery.Interrupted[0].From, recovery.Interrupted[0].To = "file://"+b.backend, from, time.Now()
		return b.do(t.Context(), recovery)
	}
	b.Expect(recover(from).Message).To(ContainSubstring("was interrupted in another backend"), "it is a copy")
	b.Expect(os.RemoveAll(filepath.Dir(filepath.Dir(b.stackFile())))).To(Succeed())
	b.Expect(recover(time.Now()).Message).To(ContainSubstring("was interrupted in another backend"), "the lock is that of an earlier run")
	b.Expect(os.Rename(moved+"/.pulumi/stacks", moved+"/away")).To(Succeed())
	b.Expect(os.WriteFile(moved+"/.pulumi/stacks", nil, 0o600)).To(Succeed())
	b.Expect(recover(from).Outcome).To(Equal(run.Failed), "the state cannot be read")
	b.Expect(os.Remove(moved + "/.pulumi/stacks")).To(Succeed())
	b.Expect(os.Rename(moved+"/away", moved+"/.pulumi/stacks")).To(Succeed())
	b.Expect(reported()).To(Equal([]run.Found{{Project: made.Project, Backend: "file://" + moved}}), "the lock is gone now")
	made.Backend = reported()[0].Backend
	result := recover(from)
	b.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
	b.Expect(result.Backend).To(Equal("file://" + moved))
}

// ofSecret has the backend of the run be named by the Secret with that UID.
func ofSecret(r run.Run, uid string) run.Run {
	r.Masks, r.BackendKey = []string{r.Backend}, uid
	return r
}

// A Secret names the backend, so that nobody can look at the old place.
func TestARecoveryInABackendOfASecretThatWasMovedSucceeds(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	b := newBeside(t)
	b.withStack()
	made := b.do(t.Context(), ofSecret(b.update(b.thing("value: x")), "uid"))
	from := time.Now()
	lost := ofSecret(b.update(b.thing("value: y\n      hold: update")), "uid")
	lost.Known, lost.KnownBackend = made.Project, made.Backend
	b.killed(lost, "pulumi")
	b.release()
	moved := filepath.Join(t.TempDir(), "moved")
	b.Expect(os.Rename(b.backend, moved)).To(Succeed())
	recovery := b.recovery(lost)
	recovery.Backend = "file://" + moved
	recovery = ofSecret(recovery, "uid")
	recovery.Known, recovery.KnownBackend = made.Project, made.Backend
	recovery.Interrupted[0].Backend, recovery.Interrupted[0].From, recovery.Interrupted[0].To = made.Backend, from, time.Now()
	result := b.do(t.Context(), recovery)
	b.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
}

// A Secret that is made again has another UID, with which the digest of its backend is another.
func TestARecoveryWithASecretThatWasMadeAgainSucceeds(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	b := newBeside(t)
	b.withStack()
	made := b.do(t.Context(), ofSecret(b.update(b.thing("value: x")), "uid-1"))
	lost := ofSecret(b.update(b.thing("value: y\n      hold: update")), "uid-1")
	lost.Known, lost.KnownBackend = made.Project, made.Backend
	b.killed(lost, "pulumi")
	b.release()
	recovery := ofSecret(b.recovery(lost), "uid-2")
	recovery.Known, recovery.KnownBackend = made.Project, made.Backend
	recovery.Interrupted[0].Backend = made.Backend
	result := b.do(t.Context(), recovery)
	b.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
	b.Expect(b.locks()).To(BeEmpty())
}

func TestARecoveryThatCannotReadWhatWasFoundGoesByWhatIsKnown(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	b := newBeside(t)
	b.withStack()
	lost := b.update(b.thing("value: x\n      hold: create"))
	b.killed(lost, "pulumi")
	b.release()
	b.Expect(os.Truncate(b.of(lost.ID).found(), 0)).To(Succeed())
	result := b.do(t.Context(), b.recovery(lost))
	b.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
	b.Expect(b.locks()).To(BeEmpty())
	b.Expect(b.saidLines()).To(ContainElement(ContainSubstring("failed to read where run")))
}

// leavingItsLock has the run do all it is asked to, and not be able to remove its lock. It calls started while the run has that.
func (b beside) leavingItsLock(r run.Run, started func()) {
	b.Helper()
	results := make(chan run.Result, 1)
	go func() { results <- b.do(b.Context(), r) }()
	started()
	locks, away := filepath.Join(b.backend, ".pulumi", "locks"), filepath.Join(b.backend, "away")
	b.Expect(os.Rename(locks, away)).To(Succeed())
	b.Expect(os.WriteFile(locks, nil, 0o600)).To(Succeed()) // no directory, so that even root cannot delete there
	b.release()
	var result run.Result
	b.Eventually(results).Should(Receive(&result))
	b.Expect(os.Remove(locks)).To(Succeed())
	b.Expect(os.Rename(away, locks)).To(Succeed())
	b.Expect(result.Outcome).To(Equal(run.Failed))
	b.Expect(result.Message).To(ContainSubstring("the lock of Pulumi could not be removed"))
	b.Expect(result.Interrupted).To(BeTrue())
	b.Expect(b.locks()).NotTo(BeEmpty())
}

func TestALockThatCannotBeRemovedIsRecoveredFrom(t *testing.T) {
	t.Parallel()
	b := newBeside(t)
	b.withStack()
	lost := b.update(b.thing("value: x\n      hold: create"))
	b.leavingItsLock(lost, b.awaitCreate)
	result := b.do(t.Context(), b.recovery(lost))
	b.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
	b.Expect(b.locks()).To(BeEmpty())
}

// The recovery would otherwise succeed, and leave the next run a lock that nobody takes for its own.
func TestALockThatARecoveryCannotRemoveIsRecoveredFrom(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	b := newBeside(t)
	recovery := b.recovery(b.left("hold: read"))
	b.leavingItsLock(recovery, func() { b.reads("a") })
	again := b.recovery(recovery)
	again.Interrupted = append(again.Interrupted, recovery.Interrupted...)
	result := b.do(t.Context(), again)
	b.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
	b.Expect(b.locks()).To(BeEmpty())
}

func TestALockThatAUserHasRemovedIsNotLeft(t *testing.T) {
	t.Parallel()
	b := newBeside(t)
	b.withStack()
	results := make(chan run.Result, 1)
	go func() { results <- b.do(t.Context(), b.update(b.thing("value: x\n      hold: create"))) }()
	b.awaitCreate()
	b.Expect(os.RemoveAll(filepath.Join(b.backend, ".pulumi", "locks"))).To(Succeed())
	b.release()
	var result run.Result
	b.Eventually(results).Should(Receive(&result))
	b.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
	b.Expect(result.Interrupted).To(BeFalse())
}

func TestOnlyTheEngineSaysThatTheStateIsNotSaved(t *testing.T) {
	for text, want := range map[string]bool{
		"post-step event returned an error: failed to save snapshot: read-only":          true,
		"resource complete event returned an error: failed to save snapshot: read-only":  true,
		"warning: a\nerror: failed to save snapshot: read-only":                          true,
		"error: writing snapshot: failed to save snapshot: read-only":                    true,
		"failed to save snapshot of the volume: access denied":                           false,
		"  error: sdk-v2/provider2.go:572: failed to save snapshot: access denied":       false,
		"error: 1 error occurred:\n\t* creating: failed to save snapshot: access denied": false,
	} {
		NewWithT(t).Expect(isUnsaved(text)).To(Equal(want), text)
	}
}
