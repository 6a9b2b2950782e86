// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package decide_test

import (
	"testing"
	"testing/quick"
	"time"

	. "github.com/onsi/gomega"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/decide"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// guarded has a PolicySet select the Stack, which was checked an hour ago.
func guarded(o *decide.Observation) {
	o.Drift.Found = true
	o.Policies = decide.Policies{
		Selected: true, Recorded: true, Sets: []string{"guard"}, Enforced: "sha256:packs", Digest: "sha256:a", Checked: "sha256:a", LastAt: now.Add(-time.Hour),
	}
}

// repacked has other packs than those of the last check.
func repacked(o *decide.Observation) {
	guarded(o)
	o.Policies.Digest = "sha256:b"
}

// unresolved has a pack that is enforced and cannot be used.
func unresolved(o *decide.Observation) {
	guarded(o)
	o.Policies.Digest, o.Policies.Problem = "", &decide.Problem{Reason: v1.PolicyPackFailedReason, Message: "source not found"}
}

// withPolicyCheck adds a check of policies to the decision.
func withPolicyCheck(d decide.Decision) decide.Decision {
	d.CheckPolicies = true
	return d
}

func TestPoliciesAreChecked(t *testing.T) {
	inSync := decide.Decision{Action: decide.InSync, After: 10 * time.Minute}
	update := decide.Decision{Action: decide.Start, Operation: run.Update}
	testNext(t, []nextCase{
		{"the packs and inputs of the last check", guarded, inSync},
		{"other packs", repacked, withPolicyCheck(inSync)},
		{"never checked", func(o *decide.Observation) {
			guarded(o)
			o.Policies.LastAt = time.Time{}
		}, withPolicyCheck(inSync)},
		{"no PolicySet", func(o *decide.Observation) { o.Drift.Found = true }, inSync},
		{"a check for drift is due as well", func(o *decide.Observation) {
			repacked(o)
			o.Drift.NextAt = now
		}, withCheck(inSync)},
		{"other inputs, which are run first", func(o *decide.Observation) {
			repacked(o)
			o.Digest = "sha256:new"
		}, update},
		{"other inputs, which wait for another Stack", func(o *decide.Observation) {
			repacked(o)
			o.Digest, o.Unready = "sha256:new", []string{"Stack a/b is not ready"}
		}, decide.Decision{Action: decide.Wait, Reason: "DependencyNotReady", Message: "Dependencies are not ready: Stack a/b is not ready", After: time.Minute}},
		{"no run has found the stack", func(o *decide.Observation) {
			repacked(o)
			o.Drift.Found = false
		}, inSync},
		{"suspended, so that its inputs are not known", func(o *decide.Observation) {
			repacked(o)
			o.Suspended, o.Digest = true, ""
		}, decide.Decision{Action: decide.MarkSuspended}},
		{"a failed run, which is not due again yet", func(o *decide.Observation) {
			repacked(o)
			failed(o, 10*time.Second)
		}, withPolicyCheck(retryIn(50 * time.Second))},
		{"a run in flight", func(o *decide.Observation) {
			repacked(o)
			o.Run = &decide.Run{Phase: run.Running, Holder: decide.HeldHere, StartedAt: now.Add(-time.Hour), ProgressReported: true}
		}, decide.Decision{Action: decide.Nothing}},
		{"a check that has just failed", func(o *decide.Observation) {
			guarded(o)
			o.Policies.Failures, o.Policies.LastAt = 1, now.Add(-time.Second)
		}, decide.Decision{Action: decide.InSync, After: 59 * time.Second}},
		{"a check that has failed, with other packs since then", func(o *decide.Observation) {
			repacked(o)
			o.Policies.Failures, o.Policies.LastAt = 1, now
		}, withPolicyCheck(inSync)},
		{"a check that has failed a while ago", func(o *decide.Observation) {
			guarded(o)
			o.Policies.Failures, o.Policies.LastAt = 1, now.Add(-time.Minute)
		}, withPolicyCheck(inSync)},
		{"the clock was set back since a check has failed", func(o *decide.Observation) {
			guarded(o)
			o.Policies.Failures, o.Policies.LastAt = 1, now.Add(time.Hour)
		}, decide.Decision{Action: decide.InSync, After: time.Minute}},
		{"no PolicySet any more", func(o *decide.Observation) { o.Policies.Recorded = true },
			decide.Decision{Action: decide.InSync, After: 10 * time.Minute, Duties: []decide.Duty{decide.DropPolicies}}},
	})
}

func TestPacksThatAreEnforced(t *testing.T) {
	inSync := decide.Decision{Action: decide.InSync, After: 10 * time.Minute}
	stopped := decide.Decision{Action: decide.Fail, Reason: v1.PolicyPackFailedReason, Message: "source not found", After: time.Minute}
	testNext(t, []nextCase{
		{"in sync, and only the check says what is wrong", unresolved, withPolicyCheck(inSync)},
		{"in sync, after the check has said it", func(o *decide.Observation) {
			unresolved(o)
			o.Policies.Checked, o.Policies.Failures, o.Policies.LastAt = "", 1, now
		}, decide.Decision{Action: decide.InSync, After: time.Minute}},
		{"in sync, and an error of the API server", func(o *decide.Observation) {
			unresolved(o)
			o.Policies.Unreadable = true
		}, decide.Decision{Action: decide.InSync, After: 10 * time.Second}},
		{"an interval that has passed", func(o *decide.Observation) {
			unresolved(o)
			o.ContinueResync, o.Last.EndedAt = true, now.Add(-time.Hour)
		}, withPolicyCheck(stopped)},
		{"a failed run that is due again", func(o *decide.Observation) {
			unresolved(o)
			failed(o, time.Hour)
		}, withPolicyCheck(stopped)},
		{"drift that is to be corrected", func(o *decide.Observation) {
			unresolved(o)
			o.Drift.Correction.Drift = "sha256:drift"
		}, withPolicyCheck(stopped)},
		{"other inputs", func(o *decide.Observation) {
			unresolved(o)
			o.Digest = "sha256:new"
		}, stopped},
		{"a requested run", func(o *decide.Observation) {
			unresolved(o)
			o.Requested = true
		}, withPolicyCheck(stopped)},
		{"a recovery needs none", func(o *decide.Observation) {
			unresolved(o)
			o.Interrupted = true
		}, decide.Decision{Action: decide.Start, Operation: run.Recover}},
		{"the outputs are read without", func(o *decide.Observation) {
			unresolved(o)
			o.Outputs.Stale = true
		}, decide.Decision{Action: decide.Start, Operation: run.ReadOutputs}},
		{"a check for drift needs none", func(o *decide.Observation) {
			unresolved(o)
			o.Drift.NextAt = now
		}, withCheck(inSync)},
		{"a violation, and the same packs", func(o *decide.Observation) {
			guarded(o)
			failed(o, 10*time.Second)
			o.Last.Reason, o.Last.Policies = v1.PolicyViolationReason, "sha256:packs"
		}, decide.Decision{Action: decide.Fail, Reason: v1.PolicyViolationReason, Message: "no such bucket", After: 50 * time.Second}},
		{"a violation, and other packs", func(o *decide.Observation) {
			guarded(o)
			failed(o, 10*time.Second)
			o.Last.Reason, o.Last.Policies = v1.PolicyViolationReason, "sha256:others"
		}, decide.Decision{Action: decide.Start, Operation: run.Update}},
		{"a violation, and no packs any more", func(o *decide.Observation) {
			failed(o, 10*time.Second)
			o.Last.Reason, o.Last.Policies = v1.PolicyViolationReason, "sha256:packs"
		}, decide.Decision{Action: decide.Start, Operation: run.Update}},
		{"another failure, and other packs", func(o *decide.Observation) {
			guarded(o)
			failed(o, 10*time.Second)
			o.Last.Policies = "sha256:others"
		}, retryIn(50 * time.Second)},
	})
}

// policiesOf makes what is decided on of policies from a few random bits.
func policiesOf(bits uint16) decide.Policies {
	bit := func(n uint) bool { return bits&(1<<n) != 0 }
	p := decide.Policies{Selected: bit(0), Recorded: bit(1), Failures: int64(bits >> 2 & 3), Digest: "sha256:a", Checked: "sha256:a", Enforced: "sha256:packs"}
	if bit(4) {
		p.Checked = "sha256:b"
	}
	if bit(5) {
		p.LastAt = now.Add(time.Duration(int16(bits)) * time.Second)
	}
	if p.Selected && bit(6) {
		p.Digest, p.Unreadable = "", bit(7)
		p.Problem = &decide.Problem{Reason: v1.PolicyPackFailedReason, Message: "source not found"}
	}
	return p
}

func TestPoliciesHoldUpNothingElse(t *testing.T) {
	properties := map[string]func(o, without decide.Observation) bool{
		"packs that can be used and were checked change nothing": func(o, without decide.Observation) bool {
			o.Policies = decide.Policies{Selected: true, Recorded: true, Enforced: o.Last.Policies, Digest: "sha256:a", Checked: "sha256:a", LastAt: now}
			return equal(decide.Next(o), decide.Next(without))
		},
		"no program runs without the packs that are enforced": func(o, _ decide.Observation) bool {
			d := decide.Next(o)
			return o.Policies.Problem == nil || o.Deleting || d.Action != decide.Start || run.KindOf(d.Operation).Policies == run.PoliciesNever
		},
		"what runs no program is not held up by packs": func(o, without decide.Observation) bool {
			was, d := decide.Next(without), decide.Next(o)
			needsNone := was.Action == decide.Start && run.KindOf(was.Operation).Policies == run.PoliciesNever
			return !needsNone || d.Action == was.Action && d.Operation == was.Operation
		},
		"neither a deletion nor a suspension depends on policies": func(o, without decide.Observation) bool {
			d := decide.Next(o)
			return (!o.Deleting && !o.Suspended) || d.Action == decide.Next(without).Action
		},
		"a check for drift is done all the same": func(o, without decide.Observation) bool {
			was := decide.Next(without)
			return !was.Check || decide.Next(o).Check || decide.Next(o).Action == decide.Start
		},
		"policies are checked between two runs of inputs that were run": func(o, _ decide.Observation) bool {
			d := decide.Next(o)
			safe := o.Policies.Selected && o.Run == nil && !o.Deleting && !o.Interrupted && len(o.UnknownCreates) == 0 && d.Action != decide.Start && !d.Check
			return !d.CheckPolicies || safe
		},
		"no change of packs starts an update of what has succeeded": func(o, without decide.Observation) bool {
			was, d := decide.Next(without), decide.Next(o)
			return !o.Last.Succeeded || d.Action != decide.Start || d.Operation == run.ReadOutputs || was.Action == decide.Start
		},
	}
	for name, holds := range properties {
		t.Run(name, func(t *testing.T) {
			check := func(bits uint32, phase, operation uint8, ago int16, policies uint16) bool {
				without := observation(bits, phase, operation, ago)
				o := without
				o.Policies = policiesOf(policies)
				return holds(o, without)
			}
			if err := quick.Check(check, observations()); err != nil {
				t.Error(err)
			}
		})
	}
}

func equal(a, b decide.Decision) bool {
	return a.Action == b.Action && a.Operation == b.Operation && a.Reason == b.Reason && a.Message == b.Message && a.After == b.After &&
		a.Check == b.Check && a.CheckPolicies == b.CheckPolicies && len(a.Duties) == len(b.Duties)
}

func TestExplainSaysWhatIsToBeDoneOfPolicies(t *testing.T) {
	for found, change := range map[string]func(*decide.Observation){
		"checked at": guarded,
		"due, as the packs or the inputs are others": repacked,
		"not before all packs can be read": func(o *decide.Observation) {
			unresolved(o)
			o.Policies.Unreadable = true
		},
		"after 2 that failed": func(o *decide.Observation) {
			guarded(o)
			o.Policies.Failures = 2
		},
		"in flight": func(o *decide.Observation) {
			repacked(o)
			checking(o)
			o.Run.Operation = run.CheckPolicies
		},
		"not before a run of the current inputs": func(o *decide.Observation) {
			repacked(o)
			o.Digest = "sha256:new"
		},
	} {
		t.Run(found, func(t *testing.T) {
			g := NewWithT(t)
			o := inSync()
			change(&o)
			_, checks := decide.Explain(o)
			g.Expect(checks).To(ContainElement(And(HaveField("About", "check of policies"), HaveField("Found", ContainSubstring(found)))))
		})
	}
}
