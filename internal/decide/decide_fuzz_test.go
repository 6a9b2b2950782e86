// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package decide_test

import (
	"math"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/flux-pulumi/pulumi-controller/internal/decide"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/tests/fuzz"
)

// observationFrom makes any Observation that an object can lead to, including times,
// counts and intervals that nobody would choose.
func observationFrom(in *fuzz.Input) decide.Observation {
	o := decide.Observation{
		Deleting: in.Bool(), HasFinalizer: in.Bool(), NeverRan: in.Bool(), Suspended: in.Bool(), DestroyOnFinalize: in.Bool(),
		Interval: duration(in), RetryInterval: duration(in),
		Preview: in.Bool(), ContinueResync: in.Bool(), RetryConflict: in.Bool(),
		Interrupted: in.Bool(), ClearPendingCreates: in.Bool(),
		Digest:    fuzz.Pick(in, "sha256:applied", "sha256:new"),
		Requested: in.Bool(), RunPending: in.Bool(), Edited: in.Bool(),
		Failures: fuzz.Pick(in, 0, 1, 2, 40, math.MaxInt64, in.Int64()),
		Now:      now,
		Last: decide.LastRun{
			Operation: fuzz.Pick(in, "", run.Update, run.Destroy, run.Recover, run.Preview, run.Propose, run.ProposeDestroy),
			Digest:    fuzz.Pick(in, "sha256:applied", ""), Succeeded: in.Bool(), Reason: fuzz.Pick(in, reasons()...), Message: "no such bucket",
			EndedAt: moment(in),
		},
	}
	if in.Bool() {
		o.Run = &decide.Run{
			Phase:  fuzz.Pick(in, run.Unknown, run.Running, run.Ended),
			Holder: fuzz.Pick(in, decide.HeldHere, decide.HeldElsewhere, decide.HolderGone), StartedAt: moment(in), ProgressReported: in.Bool(), ReportedAfter: fuzz.Pick(in, 0, duration(in)),
		}
	}
	if in.Bool() {
		o.Problem = &decide.Problem{Reason: "ArtifactFailed", Message: "gone", Terminal: in.Bool(), Awaited: in.Bool(), Fetching: in.Bool(), Since: moment(in)}
	}
	o.Unready = fuzz.List(in, 14, func() string { return "Stack default/a is not ready" })
	o.Dependents = fuzz.List(in, 14, func() string { return "default/x" })
	o.UnknownCreates = fuzz.List(in, 3, func() string { return "urn:a" })
	o.RecheckAfter = fuzz.Pick(in, 0, duration(in))
	o.Recoverable, o.MustExist, o.AppliedElsewhere = in.Bool(), in.Bool(), in.Bool()
	o.NamespaceEnds = in.Bool()
	if o.Run != nil {
		o.Run.Released, o.Run.UnprovenJob = in.Bool(), in.Bool()
		o.Run.UnknownCreates = fuzz.List(in, 3, func() string { return "urn:b" })
		o.Run.Withdrawable = in.Bool()
		o.Run.CancelRecorded, o.Run.Unconfirmed = in.Bool(), in.Bool()
	}
	o.Outputs = decide.Outputs{
		Stale: in.Bool(), Blocked: fuzz.Pick(in, "", "someone else's"), Fault: fuzz.Pick(in, "", "too big"), RetryAt: moment(in),
	}
	o.MayHaveCreated, o.FormerOutputs, o.StalePrerequisites = in.Bool(), in.Bool(), in.Bool()
	o.PreviewRequested, o.PreviewWaits = in.Bool(), in.Bool()
	if in.Bool() {
		o.InventoryRetryAt = moment(in)
	}
	o.Approval = approval(in.Byte())
	o.GitObjects = fuzz.Pick(in, "", "write GitRepository a/b")
	o.Drift = decide.Drift{Found: in.Bool(), Requested: in.Bool(), Pending: in.Bool(), NextAt: moment(in), LastAt: moment(in), Left: in.Bool(),
		Failures: fuzz.Pick(in, 0, 1, math.MaxInt64, in.Int64())}
	if o.Run != nil {
		o.Run.InBackground, o.Run.Outdated = in.Bool(), in.Bool()
	}
	return o
}

// duration is an interval of a Stack: at least a second.
func duration(in *fuzz.Input) time.Duration {
	return max(time.Second, fuzz.Pick(in, time.Minute, time.Second, math.MaxInt64, time.Duration(in.Int64())))
}

// moment is a time, from a clock that may have been set to any other.
func moment(in *fuzz.Input) time.Time {
	return fuzz.Pick(in, now.Add(-time.Duration(in.Byte())*time.Second), now.Add(time.Hour), time.Time{}, now.Add(time.Duration(in.Int64())))
}

// FuzzNext checks what must hold of every decision. TestNextHolds and TestOrderHolds
// check what must hold of each rule.
func FuzzNext(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte("\x01\x01\x00\x00\x01"))
	f.Add([]byte{0, 1, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 1, 0, 0, 0, 0, 1})
	f.Fuzz(func(t *testing.T, data []byte) {
		o := observationFrom(fuzz.From(data))
		d := decide.Next(o)
		for broken, is := range map[string]bool{
			"a second decision on the same is another": !reflect.DeepEqual(d, decide.Next(o)),
			"a second run is started":                  o.Run != nil && d.Action == decide.Start,
			"a check starts beside a run":              d.Check && (o.Run != nil || d.Action == decide.Start || d.Action == decide.RemoveFinalizer),
			"a run that is not a check is stopped":     d.Action == decide.StopCheck && (o.Run == nil || !o.Run.InBackground || o.Run.Phase != run.Running),
			"a run in flight is absorbed, withdrawn or lost": o.Run != nil && o.Run.Phase == run.Running && !o.Run.InBackground &&
				d.Action != decide.Nothing && d.Action != decide.ReportProgress && d.Action != decide.RecordFindings && d.Action != decide.Withdraw &&
				(d.Action != decide.Release || !o.Run.UnprovenJob || !o.Run.Released),
			"a run is called off that a pod may have started":                             d.Action == decide.Withdraw && (o.Run == nil || o.Run.Phase != run.Running || !o.Run.Withdrawable),
			"a result is not absorbed before all else":                                    o.Run != nil && o.Run.Phase == run.Ended && d.Action != decide.Absorb,
			"what nobody has recorded is absorbed, withdrawn, lost, released or reported": o.Run == nil && slices.Contains(ofARun, d.Action),
			"the object is released while a run is recorded":                              o.Run != nil && d.Action == decide.RemoveFinalizer,
			"the object is released while it is open what exists, though that is to be destroyed": d.Action == decide.RemoveFinalizer && promised(o) &&
				(o.Interrupted || len(o.UnknownCreates) > 0),
			"the object is released though it is to be destroyed": d.Action == decide.RemoveFinalizer && promised(o) && !destroyedBy(o),
			"it is destroyed though it is to be kept": d.Operation == run.Destroy && (!o.Deleting || !o.DestroyOnFinalize || o.Suspended ||
				o.Preview || !o.HasFinalizer || o.NeverRan),
			"something is started in a namespace that takes nothing new": o.Deleting && o.NamespaceEnds && d.Action == decide.Start,
			"something is started while suspended":                       o.Suspended && d.Action == decide.Start,
			"creations of unknown outcome are passed over": len(o.UnknownCreates) > 0 && !o.ClearPendingCreates && !o.Interrupted &&
				!o.Preview && d.Action == decide.Start,
			"a start says not of what, or another action does":       (d.Action == decide.Start) != (d.Operation != ""),
			"objects are kept while a run is recorded":               d.Action == decide.KeepGitObjects && (o.Run != nil && !o.Run.InBackground || o.GitObjects == ""),
			"a run starts before the objects that it needs are kept": o.GitObjects != "" && (d.Action == decide.Start || d.Action == decide.InSync),
			"a wait is negative":                                     d.After < 0,
			"nothing ever looks again": d.After == 0 && (d.Action == decide.Fail || d.Action == decide.Wait ||
				d.Action == decide.InSync || d.Action == decide.AwaitApproval),
			"a run that changes resources is not held to an approval that is required": d.Action == decide.Start && run.KindOf(d.Operation).ChangesResources &&
				o.Approval.Required && (d.Approved == "" || o.Approval.Plan.Rejected || !o.Approval.Plan.Approved || o.Approval.Plan.Operation != d.Operation),
			"a Stack that fails is looked at later than its retry interval": d.Action == decide.Fail && d.After > o.RetryInterval,
			"a duty is done twice": len(d.Duties) != len(slices.Compact(slices.Sorted(slices.Values(d.Duties)))),
			"a Secret is deleted, or an inventory written, while a run is recorded": o.Run != nil &&
				(slices.Contains(d.Duties, decide.DeleteFormerOutputs) || slices.Contains(d.Duties, decide.WriteInventory)),
			"a Stack that is being deleted gets the finalizer back": o.Deleting && slices.Contains(d.Duties, decide.RestoreFinalizer),
			"an inventory that could not be written is forgotten": o.Run == nil && !o.InventoryRetryAt.IsZero() && d.Action != decide.RemoveFinalizer &&
				d.After == 0,
			"no reason is given": d.Reason == "" && (d.Action == decide.Fail || d.Action == decide.Stall || d.Action == decide.Wait),
		} {
			if is {
				t.Errorf("%s: %s of %+v", broken, d, o)
			}
		}
	})
}

// ofARun are the actions on a recorded run.
var ofARun = []decide.Action{decide.Absorb, decide.DropRecord, decide.MarkInterrupted, decide.Release, decide.ReportProgress, decide.RecordFindings, decide.Withdraw}

// promised reports whether the resources of the Stack must be destroyed before it goes.
func promised(o decide.Observation) bool {
	return o.Deleting && o.HasFinalizer && o.DestroyOnFinalize && !o.Suspended && !o.Preview && !o.NeverRan
}

func destroyedBy(o decide.Observation) bool {
	return o.Last.Operation == run.Destroy && o.Last.Succeeded
}
