// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	. "github.com/onsi/gomega"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

func TestTheAccountReachesTheRunAndItsDigest(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t, programAndStack()...)
	w.mustReconcile()
	g.Expect(w.runner.runs[w.stack().Status.Run.ID].Account.Name).To(BeEmpty())
	w.endRun(run.Succeeded, "", run.Changes{})

	w.DefaultServiceAccount = "everybody"
	w.mustReconcile()
	g.Expect(w.runner.runs[w.stack().Status.Run.ID].Account).To(Equal(run.ServiceAccount{Namespace: "default", Name: "everybody"}))
	w.endRun(run.Succeeded, "", run.Changes{})

	w.edit(func(s *v1.Stack) { s.Spec.ServiceAccountName = "deployer" })
	w.mustReconcile()
	g.Expect(w.runner.runs[w.stack().Status.Run.ID].Account).To(Equal(run.ServiceAccount{Namespace: "default", Name: "deployer"}))
	w.endRun(run.Succeeded, "", run.Changes{})
	w.mustReconcile()
	g.Expect(w.runner.started).To(Equal(3), "a change of account starts a run, an unchanged account does not")
}

func TestAMissingAccountIsCheckedAgainSoon(t *testing.T) {
	const missing = "service account 'default/deployer' not found: create it, or name another in spec.serviceAccountName"
	g := NewWithT(t)
	w := optionsWorld(t, func(s *v1.StackSpec) { s.ServiceAccountName = "deployer" })
	w.mustReconcile()
	w.endRun(run.AccountFailed, missing, run.Changes{})
	stack := w.stack()
	g.Expect(conditions.GetReason(stack, meta.ReadyCondition)).To(Equal(v1.ServiceAccountFailedReason))
	g.Expect(conditions.GetMessage(stack, meta.ReadyCondition)).To(Equal(missing))
	g.Expect(conditions.IsReconciling(stack)).To(BeTrue())
	g.Expect(w.mustReconcile().RequeueAfter).To(BeNumerically("~", 10*time.Second, 2*time.Second))

	w.passTime(20 * time.Second)
	w.mustReconcile()
	g.Expect(w.runner.started).To(Equal(2))
}

func TestADestroyHasTheAccountAndWaitsForIt(t *testing.T) {
	g := NewWithT(t)
	w := optionsWorld(t, func(s *v1.StackSpec) { s.ServiceAccountName = "deployer" })
	w.mustReconcile()
	id := w.stack().Status.Run.ID
	w.runner.end(id, run.Succeeded, "")
	w.runner.results[id].Project = run.Project{Name: "app", Runtime: "yaml"}
	w.mustReconcile()

	g.Expect(w.Delete(t.Context(), w.stack())).To(Succeed())
	w.mustReconcile()
	todo := w.runner.runs[w.stack().Status.Run.ID]
	g.Expect(todo.Operation).To(Equal(run.Destroy))
	g.Expect(todo.Account).To(Equal(run.ServiceAccount{Namespace: "default", Name: "deployer"}))
	w.endRun(run.AccountFailed, "service account 'default/deployer' not found", run.Changes{})
	g.Expect(conditions.GetReason(w.stack(), meta.ReadyCondition)).To(Equal(v1.ServiceAccountFailedReason))
	g.Expect(w.mustReconcile().RequeueAfter).To(BeNumerically("~", 10*time.Second, 2*time.Second), "the object stays, and so does what it manages")

	w.passTime(20 * time.Second)
	w.mustReconcile()
	g.Expect(w.runner.started).To(Equal(3))
	w.endRun(run.Succeeded, "", run.Changes{})
	w.mustReconcile()
	g.Expect(w.deleted()).To(BeTrue())
}
