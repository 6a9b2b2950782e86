// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package view

import (
	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/words"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// May is what a person may do: the actions of the page.
type May struct {
	Approve   bool `json:"approve,omitempty"`
	Reject    bool `json:"reject,omitempty"`
	Reconcile bool `json:"reconcile,omitempty"`
	Preview   bool `json:"preview,omitempty"`
	Suspend   bool `json:"suspend,omitempty"`
	Resume    bool `json:"resume,omitempty"`
	Cancel    bool `json:"cancel,omitempty"`
}

// All is everything.
func All() May {
	return May{Approve: true, Reject: true, Reconcile: true, Preview: true, Suspend: true, Resume: true, Cancel: true}
}

// Now returns what of it makes sense now: what the command of that name would not refuse.
func (m May) Now(stack *v1.Stack) May {
	of, record := words.Proposal(stack), stack.Status.Run
	suspended, applied := stack.Spec.Suspend, record != nil && of != nil && record.Approved == of.Digest
	rejected := of != nil && (of.State == v1.PlanRejected || stack.Annotations[v1.RejectAnnotation] == of.Digest)
	approved := of != nil && !rejected && stack.Annotations[v1.ApproveAnnotation] == of.Digest
	return May{
		Approve:   m.Approve && of != nil && !applied && !approved,
		Reject:    m.Reject && of != nil && !applied && !rejected,
		Reconcile: m.Reconcile && !suspended,
		Preview:   m.Preview && !suspended && stack.DeletionTimestamp == nil,
		Suspend:   m.Suspend && !suspended,
		Resume:    m.Resume && suspended,
		Cancel:    m.Cancel && record != nil && record.Cancel == "" && run.KindOfRecord(record).Cancellable,
	}
}
