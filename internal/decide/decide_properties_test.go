// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package decide_test

import (
	"math/rand"
	"slices"
	"testing"
	"testing/quick"
	"time"

	"github.com/fluxcd/pkg/apis/meta"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/decide"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// reasons are those of runs that make a difference, and one that makes none.
func reasons() []string {
	return []string{
		v1.UpdateFailedReason, v1.StackLockedReason, v1.RunCancelledReason, v1.RunInterruptedReason, v1.InvalidSpecReason,
		v1.BackendUnavailableReason, v1.RegistryUnavailableReason, v1.ServiceAccountFailedReason, v1.PodFailedReason,
		meta.ArtifactFailedReason, v1.ArtifactGoneReason,
	}
}

// observations are the same at each run of the tests, so that a change is what fails them. FuzzNext
// looks at others.
func observations() *quick.Config {
	return &quick.Config{MaxCount: 20000, Rand: rand.New(rand.NewSource(1))}
}

// observation makes an Observation from a few random bits, to check properties over every
// combination.
func observation(bits uint32, phase, operation uint8, ago int16) decide.Observation {
	bit := func(n uint) bool { return bits&(1<<n) != 0 }
	o := inSync()
	o.Deleting, o.HasFinalizer, o.Suspended, o.DestroyOnFinalize = bit(0), bit(1), bit(2), bit(3)
	o.NeverRan, o.Requested, o.Last.Succeeded = bit(4), bit(5), bit(6)
	if bit(7) {
		o.Digest = "sha256:new"
	}
	if bit(8) {
		o.Problem = &decide.Problem{Reason: "ArtifactFailed", Message: "gone", Terminal: bit(9)}
		if bit(29) {
			o.Problem.Since = now.Add(-time.Duration(phase%90) * time.Second)
		}
	}
	if bit(10) {
		o.Run = &decide.Run{
			Phase:  []run.Phase{run.Unknown, run.Running, run.Ended}[phase%3],
			Holder: []decide.Holder{decide.HeldHere, decide.HeldElsewhere, decide.HolderGone}[phase/3%3],
		}
	}
	o.Interrupted, o.ClearPendingCreates = bit(11), bit(12)
	if bit(13) {
		o.UnknownCreates = []string{"urn:a"}
	}
	o.Preview, o.ContinueResync, o.RetryConflict = bit(14), bit(15), bit(16)
	o.Last.Reason, o.Last.Message = reasons()[int(bits>>17&15)%len(reasons())], "no such bucket"
	o.Edited, o.RunPending = bit(21), bit(22)
	o.MustExist = bit(23)
	if o.Run != nil {
		o.Run.Released = bit(24)
		o.Run.UnprovenJob = bit(30)
	}
	o.AppliedElsewhere, o.Recoverable, o.NamespaceEnds = bit(25), bit(26), bit(27)
	o.MayHaveCreated, o.FormerOutputs = bit(28), bit(31)
	if ago > 0 {
		o.InventoryRetryAt = now.Add(time.Duration(ago) * time.Second)
	}
	o.Failures = int64(phase)
	o.Last.Operation = []run.Operation{"", run.Update, run.Destroy, run.Recover, run.Preview, run.Propose, run.ProposeDestroy}[operation%7]
	o.Approval = approval(operation / 7)
	o.Last.EndedAt = now.Add(time.Duration(ago) * time.Second)
	o.Drift = driftOf(phase, ago)
	if o.Run != nil {
		o.Run.InBackground, o.Run.Outdated, o.Run.CancelAsked = phase&32 != 0, phase&64 != 0, phase&128 != 0
	}
	return o
}

// driftOf makes a check for drift from a few random bits.
func driftOf(bits uint8, ago int16) decide.Drift {
	seen := decide.Drift{Found: bits&1 != 0, Requested: bits&6 == 6, Pending: bits&24 == 24, Failures: int64(bits & 3)}
	if bits&64 != 0 {
		seen.NextAt, seen.LastAt = now.Add(time.Duration(ago)*time.Second), now.Add(-time.Hour)
	}
	return seen
}

// approval makes one from a few random bits.
func approval(bits uint8) decide.Approval {
	is := decide.Approval{Required: bits&1 != 0}
	if bits&2 != 0 {
		is.Plan = &decide.Plan{Operation: run.Update, Digest: "sha256:plan", Message: "1 to create", Approved: bits&4 != 0, Rejected: bits&8 != 0}
		if bits&16 != 0 {
			is.Plan.Operation = run.Destroy
		}
	}
	return is
}

// lasts reports whether there is a problem that is not about to pass by itself.
func lasts(o decide.Observation) bool {
	p := o.Problem
	return p != nil && (p.Terminal || p.Since.IsZero() || o.Now.Sub(p.Since) >= o.RetryInterval)
}

func TestNextHolds(t *testing.T) {
	properties := []struct {
		name  string
		holds func(o decide.Observation, d decide.Decision) bool
	}{
		{"nothing is started while a run is recorded", func(o decide.Observation, d decide.Decision) bool {
			return o.Run == nil || d.Action != decide.Start
		}},
		{"a Stack is checked for drift only between two runs, and with nothing in flight in its state", func(o decide.Observation, d decide.Decision) bool {
			safe := o.Run == nil && o.Drift.Found && !o.Deleting && !o.Interrupted && len(o.UnknownCreates) == 0 && d.Action != decide.Start
			return !d.Check || safe
		}},
		{"a check that is due is done, unless something else is", func(o decide.Observation, d decide.Decision) bool {
			due := o.Drift.Requested && o.Drift.Found && o.Run == nil && !o.Deleting && !o.Interrupted && len(o.UnknownCreates) == 0
			return !due || d.Check || d.Action == decide.Start || d.Action == decide.TakeOver
		}},
		{"only a check is stopped for what is due", func(o decide.Observation, d decide.Decision) bool {
			return d.Action != decide.StopCheck || (o.Run.InBackground && o.Run.Phase == run.Running)
		}},
		{"a check delays nothing that is new", func(o decide.Observation, d decide.Decision) bool {
			if o.Run == nil || !o.Run.InBackground || o.Run.Phase != run.Running || o.Run.CancelAsked || o.Run.UnprovenJob {
				return true
			}
			alone := o
			alone.Run = nil
			due := decide.Next(alone)
			return due.Action != decide.Start || o.Digest == o.Last.Digest || d.Action == decide.StopCheck
		}},
		{"nothing is started while suspended", func(o decide.Observation, d decide.Decision) bool {
			return !o.Suspended || d.Action != decide.Start
		}},
		{"a destroy is started only for a deleted Stack that asks for it", func(o decide.Observation, d decide.Decision) bool {
			return d.Operation != run.Destroy || (o.Deleting && o.DestroyOnFinalize && o.HasFinalizer)
		}},
		{"nothing but a recovery is started while it is open what an interrupted run left behind", func(o decide.Observation, d decide.Decision) bool {
			open := (o.Interrupted || len(o.UnknownCreates) > 0) && !o.Preview
			return !open || d.Action != decide.Start || d.Operation == run.Recover
		}},
		{"a run is lost only when its holder is proven to be gone, unless it is a check", func(o decide.Observation, d decide.Decision) bool {
			return d.Action != decide.MarkInterrupted || o.Run.Holder == decide.HolderGone || o.Run.InBackground
		}},
		{"a run is released only when a person says so, and another process has it", func(o decide.Observation, d decide.Decision) bool {
			return d.Action != decide.Release || (o.Run.Released && o.Run.Holder == decide.HeldElsewhere)
		}},
		{"nothing is destroyed that was not found", func(o decide.Observation, d decide.Decision) bool {
			return d.Operation != run.Destroy || !o.MustExist
		}},
		{"a Stack is taken over only where another controller has applied it, and nothing is to be done", func(o decide.Observation, d decide.Decision) bool {
			nothing := !o.Deleting && !o.Suspended && !o.Requested && !o.RunPending && !o.Preview && !o.Interrupted && o.Run == nil && o.Problem == nil
			return d.Action != decide.TakeOver || (o.AppliedElsewhere && nothing)
		}},
		{"an update is never started for a deleted Stack", func(o decide.Observation, d decide.Decision) bool {
			return d.Operation != run.Update || !o.Deleting
		}},
		{"a Stack that is to be destroyed is released only after that", func(o decide.Observation, d decide.Decision) bool {
			promised := o.HasFinalizer && o.DestroyOnFinalize && !o.Suspended && !o.Preview && !o.NeverRan
			destroyed := o.Last.Operation == run.Destroy && o.Last.Succeeded
			return d.Action != decide.RemoveFinalizer || !promised || destroyed
		}},
		{"a Stack is not let go while an interrupted run can be recovered from", func(o decide.Observation, d decide.Decision) bool {
			can := o.Interrupted && o.HasFinalizer && !o.Suspended && !o.Preview && !o.NeverRan && !lasts(o) && (o.DestroyOnFinalize || !o.NamespaceEnds)
			return d.Action != decide.RemoveFinalizer || !can
		}},
		{"a problem that lasts keeps no Stack that is not to be destroyed", func(o decide.Observation, d decide.Decision) bool {
			return !o.Deleting || o.DestroyOnFinalize || o.Run != nil || !lasts(o) || d.Action == decide.RemoveFinalizer
		}},
		{"a Stack is released only when it is deleted", func(o decide.Observation, d decide.Decision) bool {
			return d.Action != decide.RemoveFinalizer || o.Deleting
		}},
		{"a Stack that only previews starts nothing else, and no other starts a preview", func(o decide.Observation, d decide.Decision) bool {
			return d.Action != decide.Start || o.Preview == (d.Operation == run.Preview)
		}},
		{"nothing that failed is put off for longer than the retry interval since it ended", func(o decide.Observation, d decide.Decision) bool {
			since := max(0, o.Now.Sub(o.Last.EndedAt)) // a clock that was set back
			return d.Action != decide.Fail || o.Problem != nil || d.After <= o.RetryInterval-since
		}},
		{"a Stack in sync is looked at again within its interval", func(o decide.Observation, d decide.Decision) bool {
			return d.Action != decide.InSync || (d.After > 0 && d.After <= o.Interval)
		}},
		{"a failure that is to be tried again says when", func(o decide.Observation, d decide.Decision) bool {
			return d.Action != decide.Fail || d.After > 0
		}},
		{"a Stack that may have something to undo has the finalizer, or gets it back, unless it is deleted", func(o decide.Observation, d decide.Decision) bool {
			return o.Deleting || o.HasFinalizer || !o.MayHaveCreated || slices.Contains(d.Duties, decide.RestoreFinalizer)
		}},
		{"an inventory that could not be written is retried within the retry interval, or dropped with the Stack", func(o decide.Observation, d decide.Decision) bool {
			if o.Run != nil || o.InventoryRetryAt.IsZero() {
				return true
			}
			return slices.Contains(d.Duties, decide.DropInventory) || (d.After > 0 && d.After <= o.RetryInterval)
		}},
		{"nothing changes resources without the approval of just that, if one is required", func(o decide.Observation, d decide.Decision) bool {
			if d.Action != decide.Start || !run.KindOf(d.Operation).ChangesResources || !o.Approval.Required {
				return d.Approved == ""
			}
			p := o.Approval.Plan
			return p != nil && d.Approved == p.Digest && d.Approved != "" && p.Approved && !p.Rejected && p.Operation == d.Operation
		}},
		{"nothing is proposed or waits for an approval if none is required", func(o decide.Observation, d decide.Decision) bool {
			return o.Approval.Required || (d.Action != decide.AwaitApproval && !run.KindOf(d.Operation).Proposes)
		}},
		{"a Stack that waits for an approval is looked at again within its interval", func(o decide.Observation, d decide.Decision) bool {
			return d.Action != decide.AwaitApproval || (d.After > 0 && d.After <= o.Interval && d.Message != "")
		}},
		{"a failure has a reason and a message", func(_ decide.Observation, d decide.Decision) bool {
			failing := d.Action == decide.Fail || d.Action == decide.Stall
			return !failing || (d.Reason != "" && d.Message != "")
		}},
	}
	for _, p := range properties {
		t.Run(p.name, func(t *testing.T) {
			check := func(bits uint32, phase, operation uint8, ago int16) bool {
				o := observation(bits, phase, operation, ago)
				return p.holds(o, decide.Next(o))
			}
			if err := quick.Check(check, observations()); err != nil {
				t.Error(err)
			}
		})
	}
}
