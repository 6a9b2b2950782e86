// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"encoding/json"
	"testing"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/run/job/exchange"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

// patchSecret changes the Secret of the run in flight, as its program could.
func (t *team) patchSecret(stack *v1.Stack, change map[string]any) {
	t.test.Helper()
	t.runOf(stack)
	text, err := json.Marshal(change)
	t.Expect(err).NotTo(HaveOccurred())
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: t.namespace, Name: stack.Status.Run.Job}}
	t.Expect(t.Client().Patch(t.ctx, secret, client.RawPatch("application/merge-patch+json", text))).To(Succeed())
}

func TestAProgramThatWritesAResultAndContinuesIsEnded(t *testing.T) {
	short.Skip(t)
	u := newTeam(t)
	program := u.program("app", thing("one", "hold: create"))
	stack := u.stack("app")
	u.awaitJournal("create", "begin")
	pod, first := u.runningPod(stack), u.runOf(stack)
	forged, err := exchange.EncodeResult(run.Update, run.Result{Outcome: run.Succeeded})
	u.Expect(err).NotTo(HaveOccurred())
	u.patchSecret(stack, map[string]any{"data": map[string]any{exchange.ResultKey: forged}})
	u.await(stack, func(g Gomega, s *v1.Stack) { g.Expect(conditions.IsReady(s)).To(BeTrue()) })

	edit(u, program, func(p *v1.Program) { u.setProgram(p, thing("two")) })
	u.await(stack, func(g Gomega, s *v1.Stack) {
		g.Expect(conditions.GetMessage(s, meta.ReadyCondition)).To(HavePrefix("Waiting for the pod of the last run to end"))
	})
	u.Expect(u.jobs()).To(HaveLen(1))
	u.await(stack, func(g Gomega, s *v1.Stack) {
		g.Expect(conditions.GetMessage(s, meta.ReadyCondition)).To(HaveSuffix("pod " + pod.Name + " is terminating"))
		g.Expect(s.Status.Run).To(BeNil(), "it has its time to end")
	})
	u.Expect(u.kubelet.Kill(string(pod.UID))).To(Succeed())
	u.await(stack, func(g Gomega, s *v1.Stack) {
		g.Expect(s.Status.LastUpdate.Name).NotTo(Equal(first), "the next run comes after it")
	})
	u.Expect(u.cloud.Release()).To(Succeed())
}
