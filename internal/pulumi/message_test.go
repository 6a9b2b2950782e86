// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

const lockText = "error: the stack is currently locked by 1 lock(s). Either wait for the other process(es) to end " +
	"or delete the lock file with `pulumi cancel`.\n" +
	"  file:///be/.pulumi/locks/organization/demo/dev/a.json?no_tmp_dir=true: created by bob@other (pid 7) at 2026-01-01T00:00:00Z\n"

func TestJudge(t *testing.T) {
	shutdown := errors.New("the controller is shutting down")
	for name, test := range map[string]struct {
		ending      ending
		want        run.Outcome
		wantMessage string
	}{
		"exit code 0 is success whatever the events say": {
			ending{events: events{errors: []diagnostic{{text: "error: boom"}}}}, run.Succeeded, "",
		},
		"exit code 0 is success even after the time to stop": {
			ending{cause: shutdown, last: exit{stopped: true}}, run.Succeeded, "",
		},
		"destroying a stack that is not there is success": {
			ending{operation: run.Destroy, last: exit{code: 6}}, run.Succeeded, "",
		},
		"updating a stack that is not there is not": {
			ending{operation: run.Update, last: exit{code: 6}, stderr: "error: no stack named 'x' found"},
			run.Failed, "no stack named 'x' found",
		},
		"the first real error is the message": {
			ending{last: exit{code: 1}, events: events{errors: []diagnostic{
				{text: "error: update failed"}, {urn: "urn:pulumi:dev::demo::a:b:C$lab:index:Thing::a", text: "error: boom"}, {text: "later"},
			}}}, run.Failed, "lab:index:Thing (a): boom",
		},
		"an error that the program printed is better than one that says nothing": {
			ending{last: exit{code: 1}, events: events{errors: []diagnostic{
				{text: "update failed"}, {text: "Error: bad\n  on Main.yaml line 6:", printed: true},
			}}}, run.Failed, "bad\n  on Main.yaml line 6:",
		},
		"an error that says nothing is better than none": {
			ending{last: exit{code: 1}, events: events{errors: []diagnostic{{text: "update failed"}}}}, run.Failed, "update failed",
		},
		"the message is standard error where there are no events": {
			ending{last: exit{code: 1}, stderr: "warning: x\nerror: bad thing\n  more\nerror: other\n"},
			run.Failed, "bad thing\n  more",
		},
		"previewing a stack that is not there is not success either, and says what to do": {
			ending{operation: run.Preview, last: exit{code: 6}, stderr: "error: no stack named 'x' found"}, run.Failed,
			"the stack does not exist in the backend, and a preview does not create it: " +
				"create it with an update or pulumi stack init",
		},
		"changes that are not expected are named": {
			ending{checked: true, last: exit{code: 7}, events: events{changed: []string{"b", "a"}, changedCount: 5}}, run.Drifted,
			"the refresh found changes that are not expected: a, b, and 3 more. " +
				"Undo them, or have an update undo them by removing spec.expectNoRefreshChanges",
		},
		"the exit code for changes is a failure where nobody looked for them": {
			ending{last: exit{code: 7}, stderr: "error: bad"}, run.Failed, "bad",
		},
		"a failure to look for changes is a failure": {
			ending{checked: true, last: exit{code: 1}, stderr: "error: bad"}, run.Failed, "bad",
		},
		"a backend that cannot be reached is not a program that fails": {
			ending{last: exit{code: 1}, stderr: "error: performing HTTP request: i/o timeout"},
			run.BackendUnavailable, "performing HTTP request: i/o timeout",
		},
		"a host name that begins with the bucket has its setting": {
			ending{last: exit{code: 1}, stderr: "error: operation error S3: GetObject, Get \"http://state.minio:9000/a\": dial tcp: lookup state.minio: no such host"},
			run.BackendUnavailable, "operation error S3: GetObject, Get \"http://state.minio:9000/a\": dial tcp: lookup state.minio: no such host " +
				"(the name is not known: if it begins with that of the bucket, set s3ForcePathStyle=true in the URL of the backend; " +
				"otherwise, is it right, and does DNS work in the pod that runs Pulumi?)",
		},
		"an endpoint without a scheme is one with TLS": {
			ending{last: exit{code: 1}, stderr: "error: operation error S3: GetObject, Get \"https://minio:9000/a\": http: server gave HTTP response to HTTPS client"},
			run.Failed, "operation error S3: GetObject, Get \"https://minio:9000/a\": http: server gave HTTP response to HTTPS client " +
				"(that server has no TLS: if it is the right one, write http:// before it in the URL)",
		},
		"what a program cannot reach is a failure of it": {
			ending{last: exit{code: 1}, events: events{began: true, errors: []diagnostic{{text: "i/o timeout"}}}},
			run.Failed, "i/o timeout",
		},
		"a plugin that cannot be downloaded may come later": {
			ending{last: exit{code: 1}, events: events{began: true, errors: []diagnostic{{text: "failed to download plugin: x: failed all 5 attempts"}}}},
			run.RegistryUnavailable, "failed to download plugin: x: failed all 5 attempts",
		},
		"and is a failure once a resource was touched": {
			ending{last: exit{code: 1}, events: events{began: true, reached: true,
				errors: []diagnostic{{text: "failed to download plugin: x: failed all 5 attempts"}}}},
			run.Failed, "failed to download plugin: x: failed all 5 attempts",
		},
		"a silent failure names the exit code": {
			ending{last: exit{code: 3}}, run.Failed, "Pulumi ended with exit code 3 and gave no reason",
		},
		"a lock names its holder, and not how to break it": {
			ending{last: exit{code: 1}, stderr: lockText}, run.Locked,
			"the stack is currently locked by 1 lock(s): created by bob@other (pid 7) at 2026-01-01T00:00:00Z",
		},
		"a lock of Pulumi Cloud is a lock": {
			ending{last: exit{code: 1}, stderr: "error: [409] Conflict: Another update is currently in progress.\nlink"},
			run.Locked, "[409] Conflict: Another update is currently in progress.\nlink",
		},
		"a timeout is not a cancellation": {
			ending{last: exit{code: 1, stopped: true}, cause: context.DeadlineExceeded,
				events: events{errors: []diagnostic{{text: "error: update canceled"}}}},
			run.TimedOut, "the timeout has passed and the run was cancelled",
		},
		"a cancellation gives its cause and what else failed": {
			ending{last: exit{code: 1, stopped: true}, cause: shutdown, events: events{errors: []diagnostic{{text: "boom"}}}},
			run.Cancelled, "cancelled: the controller is shutting down; boom",
		},
		"a cancellation between two processes is one": {
			ending{err: shutdown, cause: shutdown}, run.Cancelled, "cancelled: the controller is shutting down",
		},
		"an aborted run speaks of pending operations": {
			ending{last: exit{code: 8, stopped: true}, cause: shutdown}, run.Cancelled,
			"cancelled: the controller is shutting down; operations were still in flight: they stay in the state as pending operations",
		},
		"a failure that was there before the run was asked to stop is a failure": {
			ending{last: exit{code: 1}, stderr: "error: bad", cause: shutdown}, run.Failed, "bad",
		},
		"a fault of the disk is one of the workspace": {
			ending{err: workspaceError{errors.New("no space left")}}, run.WorkspaceFailed, "no space left",
		},
		"no reason on a disk that is full": {
			ending{last: exit{code: 1}, disk: errors.New("no space left")}, run.WorkspaceFailed,
			"Pulumi ended with exit code 1 and gave no reason: no space left",
		},
		"a reason on a disk that is full": {ending{last: exit{code: 1}, stderr: "error: bad", disk: errors.New("no space left")}, run.Failed, "bad"},
		"a lock that cannot be read": {
			ending{last: exit{code: 1}, stderr: "error: unexpected end of JSON input", unread: []string{"/state/a.json", "/state/b.json"}}, run.Locked,
			"the stack is locked by 2 lock(s) that cannot be read, and Pulumi does nothing while they exist: " +
				"if nothing is using the stack, delete /state/a.json and /state/b.json from the backend",
		},
		"a preview beside a lock that cannot be read": {
			ending{operation: run.Preview, last: exit{code: 1}, stderr: "error: bad", unread: []string{"/state/a.json"}}, run.Failed, "bad",
		},
		"a fault of the program is a failure": {ending{err: errors.New("bad name")}, run.Failed, "bad name"},
		"a missing backend gets a hint": {
			ending{last: exit{code: 1}, stderr: "error: PULUMI_ACCESS_TOKEN must be set for login during non-interactive CLI sessions"}, run.Failed,
			"PULUMI_ACCESS_TOKEN must be set for login during non-interactive CLI sessions (that is how Pulumi Cloud is used, which is the backend " +
				"where nothing else is given: is spec.backend, or PULUMI_BACKEND_URL, missing?)",
		},
		"a program for another platform gets a hint": {
			ending{last: exit{code: 1}, stderr: "error: fork/exec ./program: exec format error"}, run.Failed,
			"fork/exec ./program: exec format error (" + otherPlatform + ")",
		},
		"a package for another platform gets a hint": {
			ending{last: exit{code: 1}, stderr: "error: node_modules/a/a.node: invalid ELF header"}, run.Failed,
			"node_modules/a/a.node: invalid ELF header (" + otherPlatform + ")",
		},
		"a missing language host gets a hint": {
			ending{last: exit{code: 1}, stderr: "error: no language plugin 'pulumi-language-x' found"}, run.Failed,
			"no language plugin 'pulumi-language-x' found (the language host of the program's runtime is not installed beside Pulumi)",
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			outcome, message := outcomeOf(test.ending)
			g.Expect(outcome).To(Equal(test.want))
			g.Expect(message).To(Equal(test.wantMessage))
		})
	}
}

func TestJudgeOfAProcessThatWasKilledByTheKernel(t *testing.T) {
	outcome, message := outcomeOf(ending{last: exit{code: -1, signal: "killed"}})
	g := NewWithT(t)
	g.Expect(outcome).To(Equal(run.Failed))
	g.Expect(message).To(ContainSubstring("ended by a signal (killed)"))
}

// A run that takes no lock and does nothing leaves nothing to look for.
func TestWhatIsLeftOfAProcessThatWasKilled(t *testing.T) {
	killed := exit{code: -1, signal: "killed"}
	stopped := exit{code: -1, signal: "killed", stopped: true}
	for operation, leaves := range map[run.Operation]bool{
		run.Update: true, run.Destroy: true, run.Recover: true,
		run.ReadOutputs: true, // it first settles what is in flight
		run.Propose:     true, // it creates the stack
		run.Preview:     false, run.ProposeDestroy: false, run.CheckDrift: false,
	} {
		for _, end := range []ending{{last: killed}, {last: stopped, cause: run.ErrCancelled}} {
			end.operation = operation
			_, message := outcomeOf(end)
			NewWithT(t).Expect(strings.Contains(message, "may be left locked")).To(Equal(leaves), "%s: %s", operation, message)
		}
	}
}

func TestThePackageOfAResource(t *testing.T) {
	for urn, want := range map[string]string{
		"urn:pulumi:dev::demo::pulumi:pulumi:Stack::demo-dev":         "",
		"urn:pulumi:dev::demo::my:index:Part$aws:s3/bucket:Bucket::a": "aws",
		"urn:pulumi:dev::demo::pulumi:providers:aws::default_6_0_0":   "aws",
		"urn:pulumi:dev::demo::pulumi-nodejs:dynamic:Resource::a":     "pulumi-nodejs",
		"": "",
	} {
		NewWithT(t).Expect(packageOf(urn)).To(Equal(want), urn)
	}
}

func TestTidy(t *testing.T) {
	g := NewWithT(t)
	g.Expect(tidy("\x1b[33mWarning\x1b[0m: a\r\n\n\n  b \x07\n\x1b[")).To(Equal("Warning: a\n  b"))
}

func TestPermalink(t *testing.T) {
	g := NewWithT(t)
	g.Expect(permalink("Updating (dev)\n\nView Live: https://app.pulumi.com/a/b/c/updates/1\n")).
		To(Equal("https://app.pulumi.com/a/b/c/updates/1"))
	g.Expect(permalink("View Live: javascript:alert(1)\n")).To(BeEmpty())
}

func FuzzFailureMessage(f *testing.F) {
	f.Add(lockText)
	f.Add("error: \x1b[31m\nError: x")
	f.Fuzz(func(t *testing.T, stderr string) {
		outcome, message := outcomeOf(ending{last: exit{code: 1}, stderr: stderr})
		known := outcome == run.Failed || outcome == run.Locked || outcome == run.BackendUnavailable || outcome == run.RegistryUnavailable
		if message == "" || !known {
			t.Errorf("outcome %s, message %q", outcome, message)
		}
		permalink(stderr)
	})
}

func TestOfManyChangesTheFirstAreNamed(t *testing.T) {
	g := NewWithT(t)
	e := &events{}
	for i := range 2 * maxChanged {
		step := &stepEvent{}
		step.Metadata.Op, step.Metadata.URN = apitype.OpUpdate, fmt.Sprintf("urn:pulumi:dev::demo::t::%04d", i)
		e.noteChanged(step)
	}
	message := driftMessage(e)
	g.Expect(message).To(ContainSubstring("t (0000) is changed, t (0001) is changed"))
	g.Expect(message).To(ContainSubstring("t (0009) is changed, and 1990 more"))
	g.Expect(len(e.changed)).To(Equal(maxChanged))
}

func TestAnUpdateThatIsNotAsPlannedSaysWhatToDo(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	g.Expect(violationMessage("a: resource a violates plan: properties changed: ~~value...", true)).To(And(
		HavePrefix("a: resource a violates plan: properties changed: ~~value... Pulumi has stopped"), ContainSubstring("What it had done by then stays, and what is left to do is proposed."), ContainSubstring("spec.approval.require to Never")))
	g.Expect(violationMessage("create is not allowed by the plan", false)).To(And(
		HavePrefix("create is not allowed by the plan: the program may make the resource in apply of a value that no preview knows. Pulumi has stopped"), ContainSubstring("Nothing was changed.")))
}
