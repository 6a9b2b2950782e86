// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/fluxcd/pkg/apis/meta"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/bounded"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/rows"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/table"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/words"
	"github.com/flux-pulumi/pulumi-controller/internal/dependency"
	"github.com/flux-pulumi/pulumi-controller/internal/stackstatus"
)

// The states that the page has a colour and a shape for. A Stack may be in several: State returns the one to act on first.
const (
	Ready     = "ready"
	Running   = "running"
	Failed    = "failed"
	Waiting   = "waiting"
	Drifted   = "drifted"
	Suspended = "suspended"
	Unknown   = "unknown"
)

// Row is a Stack in the list of all. It is small, as there may be thousands, and changes only if the Stack does.
type Row struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// State is one of the states above.
	State string `json:"state"`
	// Ready, Reason and Message are those of the condition Ready. While a run is in flight, the message is its progress.
	Ready   string `json:"ready"`
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	// Source is kind/namespace/name.
	Source string `json:"source,omitempty"`
	// Revision was last applied.
	Revision string `json:"revision,omitempty"`

	WaitsForApproval bool `json:"waitsForApproval,omitempty"`
	Drifted          bool `json:"drifted,omitempty"`
	Suspended        bool `json:"suspended,omitempty"`
	Running          bool `json:"running,omitempty"`
	Failed           bool `json:"failed,omitempty"`

	// LastRun is when the last run ended.
	LastRun string `json:"lastRun,omitempty"`
	// Needs stands for the Stacks that come first, which the graph has: it is another one if they are others. There may be so
	// many of them that a few Stacks would fill the list.
	Needs string `json:"needs,omitempty"`
}

// RowOf returns the row of a Stack.
func RowOf(stack *v1.Stack) Row {
	row := Row{
		Namespace: stack.Namespace, Name: stack.Name, Ready: string(metav1.ConditionUnknown), Message: bounded.Line(table.Shorten(messageOf(stack)), maxLine),
		Source: bounded.Line(rows.Source(stack), maxLine), Revision: bounded.Line(stack.Status.LastAppliedRevision, maxLine),
		WaitsForApproval: waits(stack), Suspended: stack.Spec.Suspend, Running: stack.Status.Run != nil, Failed: hasFailed(stack),
		Drifted: apimeta.IsStatusConditionTrue(stack.Status.Conditions, v1.DriftedCondition),
	}
	if ready := readyOf(stack); ready != nil {
		row.Ready, row.Reason = string(ready.Status), bounded.Line(ready.Reason, maxLine)
	}
	if last := stackstatus.LastRun(stack); last != nil {
		row.LastRun = stamp(last.EndedAt)
	}
	row.Needs = needs(stack)
	row.State = row.state()
	return row
}

func needs(stack *v1.Stack) string {
	edges := dependency.Edges(stack, false)
	if len(edges) == 0 {
		return ""
	}
	hash := sha256.New()
	for _, key := range edges {
		_, _ = fmt.Fprintln(hash, key.String()) // a hash never fails
	}
	return hex.EncodeToString(hash.Sum(nil)[:8])
}

// StateOf returns the state that a Stack is shown in where there is room for one.
func StateOf(stack *v1.Stack) string { return RowOf(stack).State }

func (r Row) state() string {
	switch {
	case r.Running:
		return Running
	case r.WaitsForApproval:
		return Waiting
	case r.Failed:
		return Failed
	case r.Suspended:
		return Suspended
	case r.Ready == string(metav1.ConditionTrue) && r.Drifted:
		return Drifted
	case r.Ready == string(metav1.ConditionTrue):
		return Ready
	}
	return Unknown
}

func readyOf(stack *v1.Stack) *metav1.Condition {
	return apimeta.FindStatusCondition(stack.Status.Conditions, meta.ReadyCondition)
}

// messageOf returns what `flux pulumi get` shows, at the time of the last report.
func messageOf(stack *v1.Stack) string {
	if record := stack.Status.Run; record != nil {
		if record.Progress == nil {
			return rows.Running(stack, record.StartedAt.Time)
		}
		return rows.Running(stack, record.Progress.LastUpdateTime.Time)
	}
	return rows.Message(stack)
}

// waits reports whether a person has to decide on a plan.
func waits(stack *v1.Stack) bool {
	of := words.Proposal(stack)
	return of != nil && of.State == v1.PlanProposed
}

// hasFailed reports whether the Stack is not ready for another reason than what it waits for. A Stack that waits has a
// reason of Reconciling that keeps clients waiting (see internal/cli/ready).
func hasFailed(stack *v1.Stack) bool {
	ready, reconciling := readyOf(stack), apimeta.FindStatusCondition(stack.Status.Conditions, meta.ReconcilingCondition)
	if stack.Status.Run != nil || ready == nil || ready.Status != metav1.ConditionFalse || ready.Reason == meta.DependencyNotReadyReason {
		return false
	}
	return reconciling == nil || cmp.Or(reconciling.Reason, meta.ProgressingWithRetryReason) == meta.ProgressingWithRetryReason
}
