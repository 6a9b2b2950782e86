// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package decide_test

import (
	"fmt"
	"reflect"
	"testing"
	"testing/quick"
	"time"

	. "github.com/onsi/gomega"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/decide"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

func TestOrder(t *testing.T) {
	start := func(op run.Operation) decide.Decision { return decide.Decision{Action: decide.Start, Operation: op} }
	synced := decide.Decision{Action: decide.InSync, After: 10 * time.Minute}
	held := decide.Decision{Action: decide.Wait, Reason: "DependencyNotReady",
		Message: "Dependencies are not ready: Stack default/a is not ready", After: time.Minute}
	missing := &decide.Problem{Reason: "InputsFailed", Message: "Secret gone"}
	deleted := func(o *decide.Observation) {
		o.Deleting, o.DestroyOnFinalize = true, true
		o.Dependents = []string{"default/x"}
	}
	behind := decide.Decision{Action: decide.Wait, Reason: "Progressing",
		Message: "Waiting for Stack default/x, which depends on this Stack, to be deleted", After: time.Minute}

	after := func(d decide.Decision, wait time.Duration) decide.Decision { d.After = wait; return d }

	tests := []struct {
		name   string
		change func(o *decide.Observation)
		want   decide.Decision
	}{
		{"a Stack that never ran waits for its dependency",
			func(o *decide.Observation) { o.Last = decide.LastRun{}; o.HasFinalizer = false }, held},
		{"other inputs wait", func(o *decide.Observation) { o.Digest = "sha256:new" }, held},
		{"a request waits", func(o *decide.Observation) { o.Requested = true }, held},
		{"a resync waits", func(o *decide.Observation) { o.ContinueResync = true }, held},
		{"a preview waits", func(o *decide.Observation) { o.Preview, o.Digest = true, "sha256:new" }, held},
		{"a Stack in sync stays in sync whatever becomes of its dependency", func(*decide.Observation) {}, synced},
		{"a failure that is not to be tried again yet is reported as it was",
			func(o *decide.Observation) { failed(o, 20*time.Second) },
			decide.Decision{Action: decide.Fail, Reason: "UpdateFailed", Message: "no such bucket", After: 40 * time.Second}},
		{"a failure that is to be tried again waits", func(o *decide.Observation) { failed(o, time.Hour) }, held},
		{"a suspended Stack waits for nothing",
			func(o *decide.Observation) { o.Suspended, o.Digest = true, "sha256:new" },
			decide.Decision{Action: decide.MarkSuspended}},
		{"a run in flight continues",
			func(o *decide.Observation) {
				o.Run = &decide.Run{Phase: run.Running, ProgressReported: true}
				o.Digest = "sha256:new"
			},
			decide.Decision{Action: decide.Nothing}},
		{"what is missing may be what the dependency makes", func(o *decide.Observation) { o.Problem = missing }, held},
		{"a dependency that nothing tells of is looked at again sooner",
			func(o *decide.Observation) { o.Digest, o.RecheckAfter = "sha256:new", 30*time.Second }, after(held, 30*time.Second)},
		{"and never later than others",
			func(o *decide.Observation) { o.Digest, o.RecheckAfter = "sha256:new", time.Hour }, held},
		{"so is a dependent",
			func(o *decide.Observation) { deleted(o); o.RecheckAfter = 30 * time.Second }, after(behind, 30*time.Second)},
		{"a fault that only an edit mends comes first",
			func(o *decide.Observation) {
				o.Problem = &decide.Problem{Reason: "InvalidSpec", Message: "circle", Terminal: true}
			},
			decide.Decision{Action: decide.Stall, Reason: "InvalidSpec", Message: "circle"}},
		{"a recovery does not wait", func(o *decide.Observation) { o.Interrupted = true }, start(run.Recover)},
		{"a recovery that lacks something says what, and not the dependency",
			func(o *decide.Observation) { o.Interrupted, o.Problem = true, missing },
			decide.Decision{Action: decide.Fail, Reason: "InputsFailed", Message: "Secret gone", After: time.Minute}},
		{"creations of unknown outcome are reported first",
			func(o *decide.Observation) { o.UnknownCreates = []string{"urn:a"}; o.Digest = "sha256:new" },
			decide.Decision{Action: decide.Stall, Reason: "PendingOperations", Message: decide.UnknownCreatesMessage([]string{"urn:a"})}},
		{"all of a few are named",
			func(o *decide.Observation) {
				o.Requested, o.Unready = true, []string{"Stack x/a not found", "Stack x/b is not ready"}
			},
			decide.Decision{Action: decide.Wait, Reason: "DependencyNotReady",
				Message: "Dependencies are not ready: Stack x/a not found, Stack x/b is not ready", After: time.Minute}},
		{"a deleted Stack does not wait for what it depends on",
			func(o *decide.Observation) { o.Deleting, o.DestroyOnFinalize = true, true }, start(run.Destroy)},

		{"a destroy waits for the Stacks that depend on this one", deleted, behind},
		{"and tells of more than one",
			func(o *decide.Observation) { deleted(o); o.Dependents = []string{"default/x", "default/y"} },
			decide.Decision{Action: decide.Wait, Reason: "Progressing",
				Message: "Waiting for Stacks default/x, default/y, which depend on this Stack, to be deleted", After: time.Minute}},
		{"a destroy that failed waits for one that came in the meantime",
			func(o *decide.Observation) { deleted(o); failed(o, time.Hour); o.Last.Operation = run.Destroy }, behind},
		{"a recovery does not wait for them", func(o *decide.Observation) { deleted(o); o.Interrupted = true }, start(run.Recover)},
		{"a Stack that has nothing to undo goes at once",
			func(o *decide.Observation) { deleted(o); o.DestroyOnFinalize = false },
			decide.Decision{Action: decide.RemoveFinalizer}},
		{"and so does one that never ran",
			func(o *decide.Observation) { deleted(o); o.HasFinalizer = false },
			decide.Decision{Action: decide.RemoveFinalizer}},
		{"and one that is destroyed already",
			func(o *decide.Observation) { deleted(o); o.Last.Operation = run.Destroy },
			decide.Decision{Action: decide.RemoveFinalizer}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := NewWithT(t)
			o := inSync()
			o.Unready = []string{"Stack default/a is not ready"}
			tt.change(&o)
			g.Expect(decide.Next(o)).To(Equal(tt.want))
		})
	}
}

func TestAMessageNamesNoMoreThanTenOthers(t *testing.T) {
	g := NewWithT(t)
	o := inSync()
	o.Requested = true
	for i := range 256 {
		o.Unready = append(o.Unready, fmt.Sprintf("Stack default/s%d not found", i))
	}
	g.Expect(decide.Next(o).Message).To(HaveSuffix("Stack default/s9 not found and 246 more"))
}

func TestOrderHolds(t *testing.T) {
	properties := []struct {
		name  string
		holds func(o, unordered decide.Observation) bool
	}{
		{"an update or a preview starts only when the dependencies are ready", func(o, _ decide.Observation) bool {
			d := decide.Next(o)
			return len(o.Unready) == 0 || (d.Operation != run.Update && d.Operation != run.Preview)
		}},
		{"a destroy starts only when no other Stack depends on this one", func(o, _ decide.Observation) bool {
			return len(o.Dependents) == 0 || decide.Next(o).Operation != run.Destroy
		}},
		{"nothing but a start, or word of what is missing, is put off", func(o, unordered decide.Observation) bool {
			with, without := decide.Next(o), decide.Next(unordered)
			if with.Action != decide.Wait {
				return reflect.DeepEqual(with, without)
			}
			starts := without.Action == decide.Start || o.Run != nil && o.Run.InBackground                // which is to end first
			proposed := without.Action == decide.AwaitApproval || without.Reason == v1.PlanRejectedReason // a destroy, which is for later
			return starts || proposed || without.Action == decide.Fail || (without.Action == decide.Stall && o.Last.Reason == v1.InvalidSpecReason)
		}},
		{"who waits says for what, and looks again", func(o, _ decide.Observation) bool {
			d := decide.Next(o)
			return d.Action != decide.Wait || (d.Reason != "" && d.Message != "" && d.After > 0)
		}},
	}
	for _, p := range properties {
		t.Run(p.name, func(t *testing.T) {
			check := func(bits uint32, phase, operation uint8, ago int16, unready, depended bool) bool {
				unordered := observation(bits, phase, operation, ago)
				o := unordered
				if unready {
					o.Unready = []string{"Stack default/a is not ready"}
				}
				if depended {
					o.Dependents = []string{"default/x"}
				}
				return p.holds(o, unordered)
			}
			if err := quick.Check(check, observations()); err != nil {
				t.Error(err)
			}
		})
	}
}
