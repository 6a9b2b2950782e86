// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/pulumi/process"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/tests/cloud"
)

// awaitCreate returns when the provider has started to create something.
func (l *lab) awaitCreate() {
	l.Eventually(func() string {
		text, _ := os.ReadFile(filepath.Join(l.cloud, "journal.jsonl"))
		return string(text)
	}).Should(ContainSubstring("begin"))
}

// release lets what the provider holds continue.
func (l *lab) release() { l.Expect(cloud.Open(l.cloud).Release()).To(Succeed()) }

// start executes a run in the background.
func (l *lab) start(ctx context.Context, r run.Run) <-chan run.Result {
	results := make(chan run.Result, 1)
	go func() { results <- l.driver.Do(ctx, Directory(l.TempDir()), r, func(string) {}) }()
	return results
}

func TestATimeoutFinishesWhatIsInFlight(t *testing.T) {
	t.Parallel()
	l := newLab(t).withProvider().withStack()
	ctx, cancel := context.WithCancelCause(t.Context())
	results := l.start(ctx, l.update(l.thing("hold: create", "value: x")))
	l.awaitCreate()
	cancel(context.DeadlineExceeded)
	l.Eventually(cloud.Open(l.cloud).ToldToStop).Should(BeTrue())
	l.release()
	var result run.Result
	l.Eventually(results).Should(Receive(&result))
	l.Expect(result.Outcome).To(Equal(run.TimedOut), result.Message)
	l.Expect(result.Changes.Created).To(Equal(2), "the thing in flight and the provider")
	l.Expect(l.things()).To(Equal(1), "nothing else was started")
	l.Expect(l.locks()).To(BeEmpty())
	l.Expect(l.state()).To(ContainSubstring("lab:index:Thing::a"))
	l.Expect(l.state()).NotTo(ContainSubstring("pending_operations"))
}

func TestASecondSignalLeavesPendingOperationsButNoLock(t *testing.T) {
	t.Parallel()
	l := newLab(t).withProvider().withStack()
	l.driver.Grace = Grace{Settle: patience, Finish: 2 * time.Second, Abort: patience}
	ctx, cancel := context.WithCancelCause(t.Context())
	results := l.start(ctx, l.update(l.thing("hold: create")))
	l.awaitCreate()
	cancel(errors.New("the controller is shutting down"))
	var result run.Result
	l.Eventually(results).Should(Receive(&result))
	l.Expect(result.Outcome).To(Equal(run.Cancelled))
	l.Expect(result.Message).To(And(ContainSubstring("the controller is shutting down"), ContainSubstring("pending operations")))
	l.Expect(l.locks()).To(BeEmpty())
	l.Expect(l.state()).To(ContainSubstring("pending_operations"))
}

func TestAKilledCLILeavesNoProcess(t *testing.T) {
	t.Parallel()
	l := newLab(t).withProvider().withStack()
	r := l.update(l.thing("hold: create"))
	results := l.start(t.Context(), r)
	l.awaitCreate()
	found, err := process.Marked(markOf(r.ID))
	l.Expect(err).NotTo(HaveOccurred())
	l.Expect(len(found)).To(BeNumerically(">=", 3), "the CLI, the language host and the provider")
	for _, process := range found {
		command, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(process.Pid), "cmdline"))
		if strings.Contains(string(command), "pulumi\x00--non-interactive") {
			l.Expect(process.Kill()).To(Succeed())
		}
	}
	process.Release(found)
	var result run.Result
	l.Eventually(results).Should(Receive(&result))
	l.Expect(result.Outcome).To(Equal(run.Failed))
	l.Expect(result.Message).To(ContainSubstring("ended by a signal (killed)"))
	alive, err := Alive(r.ID)
	l.Expect(err).NotTo(HaveOccurred())
	l.Expect(alive).To(BeZero())
}

func TestARunThatIsCancelledBeforeItStartsCallsNothing(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("the controller is shutting down"))
	result := l.do(ctx, l.update(plainProgram))
	l.Expect(result.Outcome).To(Equal(run.Cancelled))
	l.Expect(l.newCalls()).To(BeEmpty())
}

// A signal before the engine is at work would end the CLI at once, and leave the lock
// behind if it already has it.
func TestACancellationIsHeldBackWhileTheCLIStarts(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.given(plainProgram)
	script := filepath.Join(l.driver.Bin, "pulumi")
	text, err := os.ReadFile(script)
	l.Expect(err).NotTo(HaveOccurred())
	starts := filepath.Join(t.TempDir(), "starts")
	writeProgram(t, script, strings.Replace(string(text), "\n", "\ntouch "+starts+"; sleep 1\n", 1))
	l.newCalls()

	ctx, cancel := context.WithCancelCause(t.Context())
	results := l.start(ctx, l.update(plainProgram))
	l.Eventually(starts).Should(BeAnExistingFile())
	cancel(context.DeadlineExceeded)
	var result run.Result
	l.Eventually(results).Should(Receive(&result))
	// A run that is cancelled before it is done reads its state, to mask its messages.
	l.Expect(l.newCalls()).To(Or(Equal([]string{"up"}), Equal([]string{"up", "stack export"})), result.Message)
	l.Expect(result.Outcome).To(Or(Equal(run.TimedOut), Equal(run.Succeeded)))
	// The signal may also come between the end of the engine and its last event's being read, and ends a CLI that is
	// about to remove its lock: a recovery does that.
	if !result.Interrupted {
		l.Expect(l.locks()).To(BeEmpty())
	}
}

func TestNothingOfTheControllersEnvironmentReachesARun(t *testing.T) {
	l := newLab(t).withProvider().withStack()
	t.Setenv("AWS_SECRET_ACCESS_KEY", "of the controller")
	l.driver.PassEnv = map[string]string{"HTTPS_PROXY": "http://proxy.example"}
	r := l.update(l.thing("hold: create"))
	r.Env["PULUMI_BACKEND_URL"] = "file:///elsewhere"
	results := l.start(t.Context(), r)
	l.awaitCreate()
	found, err := process.Marked(markOf(r.ID))
	l.Expect(err).NotTo(HaveOccurred())
	l.Expect(found).NotTo(BeEmpty())
	for _, process := range found {
		environ, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(process.Pid), "environ"))
		l.Expect(err).NotTo(HaveOccurred())
		l.Expect(string(environ)).To(ContainSubstring("HTTPS_PROXY=http://proxy.example"))
		l.Expect(string(environ)).NotTo(ContainSubstring("AWS_SECRET_ACCESS_KEY"))
		l.Expect(string(environ)).NotTo(ContainSubstring("file:///elsewhere"))
	}
	process.Release(found)
	l.release()
	var result run.Result
	l.Eventually(results).Should(Receive(&result))
	l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
}
