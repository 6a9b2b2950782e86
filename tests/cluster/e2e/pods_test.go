// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/flux-pulumi/pulumi-controller/tests/cloud"
)

// delay is the duration of a change to interrupt: longer than a kubelet lets a force-deleted pod live.
const delay = 12 * time.Second

// deletePod deletes the pod in the middle of an update: it is told to stop, finishes its operation and records the
// result.
func (w *world) deletePod() {
	before := w.beginUpdate("inline", "three")
	w.kubectl("--namespace", fluxSystem, "delete", "pod", before.Name, "--wait=false")
	w.awaitGone(before)
	w.rolledOut(controller)
	updates := w.updates("inline")
	w.Expect(updates).To(HaveLen(1))
	w.Expect(updates[0].Phase).To(Equal(cloud.Done), "the update is finished by the one that began it")
	w.awaitValue("inline", "three")
	w.Expect(w.updates("inline")).To(HaveLen(1), "and is not made again")
	w.madeOnce("inline")
}

// killPod kills the pod in the middle of an update, so that it can neither finish nor record anything.
func (w *world) killPod() {
	before := w.beginUpdate("fromgit", "four")
	w.kubectl("--namespace", fluxSystem, "delete", "pod", before.Name, "--force", "--grace-period=0")
	w.awaitGone(before)
	w.rolledOut(controller)
	w.awaitValue("fromgit", "four")
	updates := w.updates("fromgit")
	w.Expect(updates).To(HaveLen(2), "the update was started, lost and repeated: %v", updates)
	w.Expect(updates[0].Phase).To(Equal(cloud.Begin))
	w.Expect(updates[len(updates)-1].Phase).To(Equal(cloud.Done))
	w.madeOnce("fromgit")
	w.awaitValue("inline", "three")
}

// updateDeployment rolls out a new template in the middle of an update.
func (w *world) updateDeployment() {
	before := w.beginUpdate("inline", "five")
	w.kubectl("--namespace", fluxSystem, "rollout", "restart", "deployment/"+controller)
	w.rolledOut(controller)
	w.awaitGone(before)
	w.awaitValue("inline", "five")
	updates := w.updates("inline")
	w.Expect(updates).To(HaveLen(2), "the update is made once: %v", updates)
	w.Expect(updates[1].Phase).To(Equal(cloud.Done))
	// The new pod is the leader and works.
	w.setValue("fromgit", "six", 0)
	w.awaitValue("fromgit", "six")
	w.madeOnce("inline")
	w.madeOnce("fromgit")
}

// beginUpdate returns the pod that runs an update, as soon as the cloud has started it.
func (w *world) beginUpdate(name, value string) corev1.Pod {
	w.test.Helper()
	pod := w.pod()
	done := len(w.updates(name))
	w.setValue(name, value, delay)
	w.Eventually(func() []cloud.Entry { return w.updates(name) }).Should(HaveLen(done + 1))
	return pod
}

func (w *world) setValue(name, value string, delay time.Duration) {
	w.test.Helper()
	w.kubectl("--namespace", w.tenant, "patch", "stack", name, "--type=merge", "--patch",
		fmt.Sprintf(`{"spec": {"config": {"lab:directory": "/cloud", "value": %q, "delay": %q}}}`, value, delay))
}

// updates returns the updates of a thing in the journal of the cloud, each with the last phase that it reached.
func (w *world) updates(name string) (updates []cloud.Entry) {
	w.test.Helper()
	journal, err := w.cloud().Journal()
	w.Expect(err).NotTo(HaveOccurred())
	for _, entry := range journal {
		switch {
		case entry.Name != name || entry.Op != cloud.Update:
		case entry.Phase == cloud.Begin:
			updates = append(updates, entry)
		default:
			updates[len(updates)-1] = entry
		}
	}
	return updates
}

func (w *world) awaitGone(pod corev1.Pod) {
	w.test.Helper()
	w.Eventually(func(g Gomega) {
		var found corev1.Pod
		err := w.Get(w.ctx, client.ObjectKeyFromObject(&pod), &found)
		g.Expect(apierrors.IsNotFound(err) || err == nil && found.UID != pod.UID).To(BeTrue(), "the pod is still there")
	}).Should(Succeed())
}
