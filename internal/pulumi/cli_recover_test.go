// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/grammar"
	"github.com/flux-pulumi/pulumi-controller/internal/pulumi/process"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

// beside executes runs in sibling directories, like those of a controller.
type beside struct {
	*lab
	dir string
}

func newBeside(t *testing.T) beside {
	return beside{lab: newLab(t).withProvider(), dir: t.TempDir()}
}

func (b beside) of(id string) Directory { return Directory(filepath.Join(b.dir, id)) }

func (b beside) do(ctx context.Context, r run.Run) run.Result {
	b.Helper()
	result := b.driver.Do(ctx, b.of(r.ID), r, func(line string) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.said = append(b.said, line)
	})
	b.Logf("%s: %s: %+v %q", r.ID, result.Outcome, result.Changes, result.Message)
	return result
}

// recovery is the recovery of the run.
func (b beside) recovery(lost run.Run) run.Run {
	b.Helper()
	host, err := os.Hostname()
	b.Expect(err).NotTo(HaveOccurred())
	r := b.update("")
	r.Operation, r.Program, r.Backend = run.Recover, run.Program{}, lost.Backend
	r.Interrupted = []run.Interrupted{{ID: lost.ID, Host: host}}
	return r
}

// killed executes a run and kills its processes of that name once the provider has
// started its operation.
func (b beside) killed(r run.Run, name string) run.Result {
	b.Helper()
	return b.killedAfter(r, name, b.awaitCreate)
}

func (b beside) killedAfter(r run.Run, name string, started func()) run.Result {
	b.Helper()
	b.Expect(os.RemoveAll(filepath.Join(b.cloud, "journal.jsonl"))).To(Succeed())
	results := make(chan run.Result, 1)
	go func() { results <- b.do(b.Context(), r) }()
	started()
	found, err := process.Marked(markOf(r.ID))
	b.Expect(err).NotTo(HaveOccurred())
	for _, process := range found {
		if comm, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", process.Pid)); strings.TrimSpace(string(comm)) == name {
			b.Expect(process.Kill()).To(Succeed())
		}
	}
	process.Release(found)
	var result run.Result
	b.Eventually(results).Should(Receive(&result))
	return result
}

// dead is the PID of a process that has ended.
func (b beside) dead() int {
	b.Helper()
	process := exec.Command("true")
	b.Expect(process.Run()).To(Succeed())
	return process.Process.Pid
}

// lock writes a lock file.
func (b beside) lock(name, host string, pid int) string {
	b.Helper()
	path := filepath.Join(".pulumi", "locks", "organization", "demo", "dev", name)
	writeTree(b.T, b.backend, map[string]string{
		path: fmt.Sprintf(`{"pid":%d,"username":"bob","hostname":%q,"timestamp":"2026-01-02T03:04:05Z"}`, pid, host),
	})
	return filepath.Join(b.backend, path)
}

// lost is a run that was ended by force while it held the lock, with the PID of its
// CLI.
func (b beside) lost() (run.Run, int) {
	b.Helper()
	r, pid := b.update(plainProgram), b.dead()
	writeTree(b.T, string(b.of(r.ID)), map[string]string{"pids": strconv.Itoa(pid) + "\n"})
	return r, pid
}

// interrupt writes an update of the thing in flight into the state.
func (l *lab) interrupt(name string) {
	l.Helper()
	var file map[string]any
	l.Expect(json.Unmarshal([]byte(l.state()), &file)).To(Succeed())
	latest := file["checkpoint"].(map[string]any)["latest"].(map[string]any)
	for _, resource := range latest["resources"].([]any) {
		if resource.(map[string]any)["urn"] == urnOf(name) {
			latest["pending_operations"] = []any{map[string]any{"resource": resource, "type": "updating"}}
		}
	}
	text, err := json.Marshal(file)
	l.Expect(err).NotTo(HaveOccurred())
	l.Expect(text).To(ContainSubstring("pending_operations"))
	writeTree(l.T, l.backend, map[string]string{".pulumi/stacks/demo/dev.json": string(text)})
}

// pulumi stack init was killed after it had locked the stack and before it created it.
func TestARecoveryRemovesTheLockOfAStackThatWasNotMade(t *testing.T) {
	t.Parallel()
	b := newBeside(t)
	lost, pid := b.lost()
	recovery := b.recovery(lost)
	b.lock("own.json", recovery.Interrupted[0].Host, pid)
	result := b.do(t.Context(), recovery)
	b.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
	b.Expect(b.locks()).To(BeEmpty())
	result = b.do(t.Context(), b.update(plainProgram))
	b.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
}

// The recovery is not complete while locks are left of the stack that the run may have
// created.
func TestARecoveryOfAStackThatIsNotThereWaitsForItsLocks(t *testing.T) {
	t.Parallel()
	b := newBeside(t)
	lost, _ := b.lost()
	recovery := b.recovery(lost)
	other := b.lock("other.json", "elsewhere", 7)
	b.lock("other.json.attrs", "", 0)
	for _, gone := range []bool{false, true} {
		recovery.Interrupted[0].Emptied = gone
		result := b.do(t.Context(), recovery)
		b.Expect(result.Outcome).To(Equal(run.Locked), result.Message)
		b.Expect(result.Message).To(And(ContainSubstring("by 1 lock(s): created by bob@elsewhere (pid 7) at 2026-01-02T03:04:05Z"),
			ContainSubstring("delete file://"+other+" from the backend")))
		b.Expect(other).To(BeAnExistingFile())
	}
	b.Expect(os.Remove(other)).To(Succeed())
	result := b.do(t.Context(), recovery)
	b.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
}

// Only a person can remove it, and has to know which object it is.
func TestALockOfAStackThatIsNotThereIsNamed(t *testing.T) {
	t.Parallel()
	b := newBeside(t)
	lock := b.lock("other.json", "elsewhere", 7)
	result := b.do(t.Context(), b.update(plainProgram))
	b.Expect(result.Outcome).To(Equal(run.Locked), result.Message)
	b.Expect(result.Message).NotTo(ContainSubstring("delete"), "it is not known whether the stack exists")
	result = b.do(t.Context(), b.update(plainProgram))
	b.Expect(result.Outcome).To(Equal(run.Locked), result.Message)
	b.Expect(result.Message).To(And(ContainSubstring("created by bob@elsewhere (pid 7)"), ContainSubstring("delete file://"+lock+" ")))
	b.Expect(lock).To(BeAnExistingFile())
}

// As after a power failure during the write. Pulumi only reports a JSON error.
func TestALockThatCannotBeReadIsNamed(t *testing.T) {
	t.Parallel()
	b := newBeside(t)
	b.given(plainProgram)
	lost, _ := b.lost()
	lock := b.lock("cut.json", "elsewhere", 7)
	b.Expect(os.Truncate(lock, 0)).To(Succeed())
	for _, r := range []run.Run{b.update(plainProgram), b.recovery(lost), b.destroy()} {
		result := b.do(t.Context(), r)
		b.Expect(result.Outcome).To(Equal(run.Locked), result.Message)
		b.Expect(result.Message).To(And(ContainSubstring("cannot be read"), ContainSubstring("delete "+lock+" from the backend")))
		b.Expect(lock).To(BeAnExistingFile())
	}
}

func TestARecoveryRemovesItsOwnLocksAndNoOthers(t *testing.T) {
	t.Parallel()
	b := newBeside(t)
	b.given(plainProgram)
	lost, pid := b.lost()
	recovery := b.recovery(lost)
	here := recovery.Interrupted[0].Host
	b.lock("own.json", here, pid)
	b.lock("own-too.json", here, pid)
	others := []string{b.lock("far.json", "elsewhere", pid), b.lock("near.json", here, b.dead()), b.lock("alive.json", here, os.Getpid())}
	unfinished := b.lock("new.json.1.tmp", "", 0)
	b.newCalls()

	result := b.do(t.Context(), recovery)
	b.Expect(result.Outcome).To(Equal(run.Locked), result.Message)
	b.Expect(result.Message).To(And(ContainSubstring("bob@elsewhere"), ContainSubstring("bob@"+here)))
	b.Expect(result.Interrupted).To(BeFalse(), "it has not started")
	b.Expect(b.locks()).To(ConsistOf(others))
	b.Expect(unfinished).To(BeAnExistingFile(), "someone may be writing it")
	b.Expect(b.newCalls()).To(Equal([]string{"stack export", "stack export", "refresh"}))

	for _, path := range others {
		b.Expect(os.Remove(path)).To(Succeed())
	}
	long := time.Now().Add(-time.Hour)
	b.Expect(os.Truncate(unfinished, 0)).To(Succeed())
	b.Expect(os.Chtimes(unfinished, long, long)).To(Succeed())
	result = b.do(t.Context(), b.recovery(lost))
	b.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
	b.Expect(unfinished).NotTo(BeAnExistingFile())
	b.Expect(b.newCalls()).To(Equal([]string{"stack export"}), "nothing was in flight")
}

// As for a backend whose locks the controller cannot reach.
func TestARecoveryCancelsWhereAllLocksAreItsOwn(t *testing.T) {
	t.Parallel()
	b := newBeside(t)
	prefixed := func(r run.Run) run.Run {
		r.Backend += "?prefix=.x/"
		return r
	}
	b.givenRun(prefixed(b.update(plainProgram)), nil)
	lost, pid := b.lost()
	recovery := b.recovery(prefixed(lost))
	b.backend = filepath.Join(b.backend, ".x")
	b.lock("own.json", recovery.Interrupted[0].Host, pid)
	result := b.do(t.Context(), recovery)
	b.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
	b.Expect(b.locks()).To(BeEmpty())
	b.Expect(b.newCalls()).To(Equal([]string{"stack export", "stack export", "refresh", "cancel", "stack export", "stack export", "refresh", "stack export"}))
}

func TestARecoveryAbsorbsNoDriftOfWhatWasNotInFlight(t *testing.T) {
	t.Parallel()
	b := newBeside(t)
	b.given(b.thing("value: x", "value: x"))
	b.drift("a", "drifted")
	lost := b.update(b.thing("value: x", "value: y\n      delays: {update: 1h}"))
	b.Expect(b.killed(lost, "pulumi").Interrupted).To(BeTrue())
	b.Expect(b.locks()).To(HaveLen(1))
	b.Expect(b.state()).To(ContainSubstring("pending_operations"))
	b.drift("b", "half done")
	b.newCalls()

	recovery := b.recovery(lost)
	result := b.do(t.Context(), recovery)
	b.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
	b.Expect(result.UnknownCreates).To(BeEmpty())
	b.Expect(b.newCalls()).To(Equal([]string{"stack export", "refresh", "stack export"}))
	b.Expect(b.locks()).To(BeEmpty())
	b.Expect(b.state()).NotTo(Or(ContainSubstring("pending_operations"), ContainSubstring("drifted")))
	b.Expect(b.state()).To(ContainSubstring("half done"))

	check := b.update(b.thing("value: x", "value: x"))
	check.Options = run.Options{Refresh: true, ExpectNoRefreshChanges: true}
	b.Expect(b.do(t.Context(), check).Outcome).To(Equal(run.Drifted), "it is still unexpected")
}

func TestARecoveryNamesCreationsOfUnknownOutcome(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		kill      string
		wantCalls []string
	}{
		"of a CLI that was killed":                         {"pulumi", []string{"stack export", "refresh", "stack export"}},
		"of a provider that was killed, known from events": {"pulumi-resource", []string{"stack export"}},
	} {
		t.Run(name, func(t *testing.T) {
			if test.kill != "pulumi" {
				short.Skip(t)
			}
			t.Parallel()
			b := newBeside(t)
			b.withStack()
			lost := b.update(b.thing("value: x\n      delays: {create: 1h}"))
			b.killed(lost, test.kill)
			b.newCalls()
			result := b.do(t.Context(), b.recovery(lost))
			b.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
			b.Expect(result.UnknownCreates).To(Equal([]string{urnOf("a")}))
			b.Expect(b.newCalls()).To(Equal(test.wantCalls))

			forget := b.recovery(lost)
			forget.UnknownCreates, forget.ClearPendingCreates = result.UnknownCreates, true
			result = b.do(t.Context(), forget)
			b.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
			b.Expect(result.UnknownCreates).To(BeEmpty())
			b.Expect(b.saidLines()).To(ContainElement("forgetting a creation of unknown outcome: " + urnOf("a")))
			b.Expect(b.state()).NotTo(ContainSubstring("pending_operations"))
		})
	}
}

// The first update of a stack was interrupted, so no result has its backend.
func TestARecoveryKnowsTheBackendOfTheRunThatWasInterrupted(t *testing.T) {
	t.Parallel()
	b := newBeside(t)
	b.withStack()
	lost := b.update(b.thing("delays: {create: 1h}"))
	b.killed(lost, "pulumi")
	elsewhere := b.recovery(lost)
	elsewhere.Backend = "file://" + t.TempDir()
	result := b.do(t.Context(), elsewhere)
	b.Expect(result.Outcome).To(Equal(run.Failed))
	b.Expect(result.Message).To(ContainSubstring("it was last seen in file://" + b.backend))
}

// A provider that gives up a creation on request has not undone it.
func TestACreationThatWasCancelledIsOfUnknownOutcome(t *testing.T) {
	t.Parallel()
	l := newLab(t).withProvider().withStack()
	ctx, cancel := context.WithCancelCause(t.Context())
	results := l.start(ctx, l.update(l.thing("hang: create")))
	l.awaitCreate()
	cancel(errors.New("the controller is shutting down"))
	var result run.Result
	l.Eventually(results).Should(Receive(&result))
	l.Expect(result.Outcome).To(Equal(run.Cancelled), result.Message)
	l.Expect(result.UnknownCreates).To(Equal([]string{urnOf("a")}))
	l.Expect(result.Interrupted).To(BeFalse())

	result = l.do(t.Context(), l.update(l.thing("failures: {create: \"context canceled\"}")))
	l.Expect(result.Outcome).To(Equal(run.Failed), result.Message)
	l.Expect(result.UnknownCreates).To(BeEmpty(), "nobody asked for it")
}

// The script that stands in for the CLI fails if its PID was not noted before it
// started.
func TestThePIDOfAProcessIsNotedBeforeItStarts(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	dir := Directory(t.TempDir())
	script := filepath.Join(l.driver.Bin, "pulumi")
	text, err := os.ReadFile(script)
	l.Expect(err).NotTo(HaveOccurred())
	check := fmt.Sprintf("\n[ \"$(tail -n 1 %s)\" = $$ ] || exit 99\n[ ! -e /proc/$$/fd/3 ] || exit 98\n", dir.pids())
	writeProgram(t, script, strings.Replace(string(text), "\n", check, 1))
	result := l.driver.Do(t.Context(), dir, l.update(plainProgram), func(string) {})
	l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
	l.Expect(readPIDs(dir.pids())).To(HaveLen(2), "pulumi stack init and pulumi up")
}

func TestACLIWhosePIDCannotBeNotedIsNotStarted(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	dir := Directory(t.TempDir())
	l.Expect(os.Symlink("/dev/full", dir.pids())).To(Succeed())
	result := l.driver.Do(t.Context(), dir, l.update(plainProgram), func(string) {})
	l.Expect(result.Outcome).To(Equal(run.WorkspaceFailed), result.Message)
	l.Expect(result.Message).To(ContainSubstring("recording the process ID"))
	l.Expect(l.newCalls()).To(BeEmpty())
}

// The recovery has less time than a CLI gets to end by itself.
func TestALeftoverThatHangsIsEndedWithinTheRun(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	id, bin := t.Name()+strconv.Itoa(os.Getpid()), t.TempDir()
	program := filepath.Join(bin, "pulumi")
	writeProgram(t, program, "#!/bin/sh\ntrap '' INT\nwhile :; do sleep 1; done\n")
	hung := exec.Command(program)
	hung.Env = []string{grammar.RunVariable + "=" + id, "PATH=/usr/bin:/bin"}
	hung.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	g.Expect(hung.Start()).To(Succeed())
	ended := make(chan error, 1)
	go func() { ended <- hung.Wait() }()
	g.Eventually(func() (int, error) {
		found, err := markedCLI(id)
		process.Release(found)
		return len(found), err
	}).Should(Equal(1))

	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	g.Expect((&Driver{}).awaitEnd(ctx, id, func(string) {})).To(Succeed())
	g.Expect(ctx.Err()).NotTo(HaveOccurred(), "there is time left for what the run is about")
	g.Eventually(ended).Should(Receive())
	g.Expect(Alive(id)).To(BeZero())
}
