// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"testing"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	. "github.com/onsi/gomega"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

// It ends the controller of all tests, so no other test may run beside it.
func TestAJobOutlivesItsController(t *testing.T) {
	u := newTeam(t)
	u.program("app", thing("one", "hold: create"))
	stack := u.stack("app")
	u.awaitJournal("create", "begin")
	u.Expect(u.Controller.Kill()).To(Succeed())
	u.Expect(u.cloud.Release()).To(Succeed())
	u.awaitJournal("create", "done")
	u.Eventually(func(g Gomega) { g.Expect(u.jobs()).To(HaveEach(HaveField("Status.Succeeded", BeEquivalentTo(1)))) }).Should(Succeed())
	u.Expect(u.StartController()).To(Succeed())
	u.awaitReady(stack, "one")
	u.Expect(stack.Status.Failures).To(BeZero())
	u.Expect(u.jobs()).To(HaveLen(1), "the result of a run that ended while no controller was there is absorbed")

	program := &v1.Program{ObjectMeta: metav1.ObjectMeta{Name: "app", Namespace: u.namespace}}
	edit(u, program, func(p *v1.Program) { u.setProgram(p, thing("two", "hold: update")) })
	u.awaitJournal("update", "begin")
	u.Expect(u.Controller.Stop()).To(Succeed(), "it does not wait for Jobs")
	u.Expect(u.cloud.Release()).To(Succeed())
	u.Expect(u.StartController()).To(Succeed())
	u.awaitReady(stack, "two")
	u.Expect(u.count("create", "begin")).To(Equal(1))
	u.Expect(u.count("update", "begin")).To(Equal(1))
	u.Expect(u.jobs()).To(HaveLen(2))
}

// It ends the controller of all tests, too.
func TestAJobOutlivesTheLeaseOfItsController(t *testing.T) {
	short.Skip(t)
	u := newTeam(t)
	u.program("app", thing("one", "hold: create"))
	stack := u.stack("app")
	u.awaitJournal("create", "begin")
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: u.RuntimeNamespace(), Name: "pulumi-controller-leader-election"}}
	thief := client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"holderIdentity":"somebody-else"}}`))
	u.Expect(u.Client().Patch(u.ctx, lease, thief)).To(Succeed())
	u.Eventually(u.Controller.Done()).Should(BeClosed(), "a controller ends with its lease")
	u.Expect(u.StartController()).To(Succeed())
	u.Expect(u.cloud.Release()).To(Succeed())
	u.awaitReady(stack, "one")
	u.Expect(stack.Status.Failures).To(BeZero())
	u.Expect(u.count("create", "begin")).To(Equal(1))
	u.Expect(u.jobs()).To(HaveLen(1), "the next controller takes over its result")
}

// killPod kills the processes of the run in flight and waits until they are gone.
func (t *team) killPod(stack *v1.Stack) {
	t.test.Helper()
	pod := t.runningPod(stack)
	t.Expect(t.kubelet.Kill(string(pod.UID))).To(Succeed())
	t.Eventually(func(g Gomega) {
		err := t.Get(t.ctx, client.ObjectKeyFromObject(pod), pod)
		g.Expect(apierrors.IsNotFound(err) || err == nil && pod.Status.Phase == corev1.PodFailed).To(BeTrue(), "pod %s: %v", pod.Name, err)
	}).Should(Succeed())
}

func TestAPodThatIsKilledIsRecoveredFrom(t *testing.T) {
	short.Skip(t)
	u := newTeam(t)
	program := u.program("app", thing("one"))
	stack := u.stack("app")
	u.awaitReady(stack, "one")
	edit(u, program, func(p *v1.Program) { u.setProgram(p, thing("two", "hold: update")) })
	u.awaitJournal("update", "begin")
	u.killPod(stack)
	u.Expect(u.cloud.Release()).To(Succeed())
	u.awaitReady(stack, "two")
	u.noLocks()
	u.Expect(u.count("create", "begin")).To(Equal(1))
	u.Eventually(func(g Gomega) {
		var events corev1.EventList
		g.Expect(u.List(u.ctx, &events, client.InNamespace(u.namespace))).To(Succeed())
		g.Expect(events.Items).To(ContainElement(And(HaveField("Reason", v1.PodFailedReason), HaveField("Message", ContainSubstring("exit code 137")))))
	}).Should(Succeed(), "an event is written after the status")
}

func TestACreationThatIsKilledIsNamed(t *testing.T) {
	u := newTeam(t)
	u.program("app", thing("one", "hold: create"))
	stack := u.stack("app")
	u.awaitJournal("create", "begin")
	u.killPod(stack)
	u.Expect(u.cloud.Release()).To(Succeed())
	u.await(stack, func(g Gomega, s *v1.Stack) {
		g.Expect(conditions.GetReason(s, meta.StalledCondition)).To(Equal(v1.PendingOperationsReason), conditions.GetMessage(s, meta.ReadyCondition))
		g.Expect(s.Status.UnknownCreates).To(ConsistOf(HaveSuffix("::a")))
	})
	u.noLocks()
	u.Expect(u.count("create", "begin")).To(Equal(1))
	edit(u, stack, func(s *v1.Stack) { s.Spec.PendingCreates = v1.PendingCreatesClear })
	u.awaitReady(stack, "one")
}

func TestADeletedPodFinishesTheOperationsInFlight(t *testing.T) {
	short.Skip(t)
	u := newTeam(t)
	u.program("app", thing("one", "hold: create"))
	stack := u.stack("app")
	u.awaitJournal("create", "begin")
	first := u.runOf(stack)
	u.Expect(u.Client().Delete(u.ctx, u.runningPod(stack))).To(Succeed())
	u.releaseWhenToldToStop()
	u.awaitReady(stack, "one")
	u.noLocks()
	u.Expect(u.count("create", "begin")).To(Equal(1), "it was finished, and recorded")
	// The first Job may be gone: it is deleted if its pod takes long to end.
	u.Expect(stack.Status.LastUpdate.Name).NotTo(Equal(first))
}

func TestAJobThatIsDeletedIsRunAgain(t *testing.T) {
	short.Skip(t)
	u := newTeam(t)
	u.program("app", thing("one", "hold: create"))
	stack := u.stack("app")
	u.awaitJournal("create", "begin")
	jobs := u.jobs()
	u.Expect(jobs).To(HaveLen(1))
	u.Expect(u.Client().Delete(u.ctx, &jobs[0], client.PropagationPolicy(metav1.DeletePropagationBackground))).To(Succeed())
	u.releaseWhenToldToStop()
	u.awaitReady(stack, "one")
	u.Expect(u.count("create", "begin")).To(Equal(1))
}

func TestASecretThatIsDeletedIsRecoveredFrom(t *testing.T) {
	short.Skip(t)
	u := newTeam(t)
	u.program("app", thing("one", "hold: create"))
	stack := u.stack("app")
	u.awaitJournal("create", "begin")
	u.Expect(u.Get(u.ctx, client.ObjectKeyFromObject(stack), stack)).To(Succeed())
	u.Expect(u.Client().Delete(u.ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: u.namespace, Name: stack.Status.Run.Job}})).To(Succeed())
	lost := stack.Status.Run.ID
	u.Expect(u.cloud.Release()).To(Succeed())
	// Each of the three runs starts its own pod, and the first is refused for a minute before it gives up.
	u.await(stack, func(g Gomega, s *v1.Stack) {
		g.Expect(s.Status.LastUpdate).NotTo(BeNil(), "run %s has ended: %s", lost, conditions.GetMessage(s, meta.ReadyCondition))
	})
	u.await(stack, func(g Gomega, s *v1.Stack) {
		g.Expect(s.Status.LastUpdate.Name).NotTo(Equal(lost), "it is recovered from: %s", conditions.GetMessage(s, meta.ReadyCondition))
	})
	u.awaitReady(stack, "one")
	u.noLocks()
	u.Expect(u.count("create", "begin")).To(Equal(1))
}

func TestWhatKeepsAPodFromStartingIsReportedAtOnce(t *testing.T) {
	short.Skip(t)
	u := newTeam(t)
	u.program("app", thing("one"))
	stack := u.stack("app", func(s *v1.Stack) {
		s.Spec.WorkspaceTemplate = u.pod(map[string]any{"image": "nowhere.example/pulumi:1"})
	})
	u.awaitMessage(stack, v1.PodFailedReason, "nowhere.example/pulumi:1", "ImagePullBackOff")
	u.Expect(stack.Status.Interrupted).To(BeEmpty(), "nothing was started")
	edit(u, stack, func(s *v1.Stack) { s.Spec.WorkspaceTemplate = u.pod(nil) })
	u.awaitReady(stack, "one")

	u.Expect(u.Client().Create(u.ctx, &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Name: "small", Namespace: u.namespace},
		Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{"limits.memory": resource.MustParse("300Mi")}},
	})).To(Succeed())
	u.Eventually(func(g Gomega) {
		quota := &corev1.ResourceQuota{}
		g.Expect(u.Get(u.ctx, client.ObjectKey{Namespace: u.namespace, Name: "small"}, quota)).To(Succeed())
		g.Expect(quota.Status.Hard).NotTo(BeEmpty())
	}).Should(Succeed())
	edit(u, stack, func(s *v1.Stack) {
		s.Spec.WorkspaceTemplate = u.pod(map[string]any{"resources": map[string]any{"limits": map[string]any{"memory": "1Gi"}}})
	})
	u.awaitMessage(stack, v1.PodFailedReason, "exceeded quota: small")
	u.Expect(u.Client().Delete(u.ctx, &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "small", Namespace: u.namespace}})).To(Succeed())

	edit(u, stack, func(s *v1.Stack) { s.Spec.ServiceAccountName = "nobody" })
	u.awaitMessage(stack, v1.ServiceAccountFailedReason, "nobody", "not found")
	edit(u, stack, func(s *v1.Stack) { s.Spec.ServiceAccountName = "" })
	u.awaitReady(stack, "one")

	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: u.namespace}}
	edit(u, namespace, func(n *corev1.Namespace) {
		n.Labels = map[string]string{"pod-security.kubernetes.io/enforce": "restricted"}
	})
	edit(u, stack, func(s *v1.Stack) {
		s.Spec.EnvRefs["A"] = literal("b")
	})
	u.awaitMessage(stack, v1.PodFailedReason, "violates PodSecurity", "hostPath")
}
