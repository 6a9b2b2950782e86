// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package crash

import (
	"os"
	"syscall"
	"testing"

	. "github.com/onsi/gomega"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/cloud"
)

// loseController kills the controller, removes its data directory, like the emptyDir of a
// deleted pod, and starts another with its own directory.
func (u *subject) loseController() {
	u.Expect(u.s.Controller.Kill()).To(Succeed())
	u.Expect(os.RemoveAll(u.s.DataDir())).To(Succeed())
	_, err := u.s.StartAnother()
	u.Expect(err).NotTo(HaveOccurred())
}

// provider returns the process that has started to create the thing.
func (u *subject) provider(name string) (pid int) {
	journal, err := u.cloud().Journal()
	u.Expect(err).NotTo(HaveOccurred())
	for _, entry := range journal {
		if entry.Op == cloud.Create && entry.Name == name {
			pid = entry.PID
		}
	}
	u.Expect(pid).NotTo(BeZero())
	return pid
}

// A provider dies alone, after it has created a resource and before it could report that,
// while another is still at work. The state does not have the resource. Then the
// controller and its disk are lost, before the end of the run: nothing but the status can
// still name it.
func TestUnknownCreationOutlivesItsControllerAndItsDisk(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	u := newSubject(t, start(t), "unknown")
	quickly := thing{name: "other", value: "one", providerIn: u.cloudDir()}
	u.create(ctx, []thing{quickly}, nil)
	u.awaitCurrent(ctx)
	slowly := thing{name: "other", value: "two", providerIn: u.cloudDir(), hold: cloud.Update}
	u.edit(ctx, []thing{slowly, {name: "lost", value: "one", delays: map[string]string{"afterCreate": "1h"}}})
	u.awaitStarted(ctx, cloud.Update, "other")
	u.Eventually(func() int { return u.count(cloud.Create, cloud.Done, "lost") }).Should(Equal(1), u.report(ctx))
	recorded := u.awaitRun(ctx, v1.OperationUpdate)
	u.Expect(syscall.Kill(u.provider("lost"), syscall.SIGKILL)).To(Succeed())
	u.Eventually(func() []string { return u.stack(ctx).Status.UnknownCreates }).Should(ConsistOf(HaveSuffix("::lost")), u.report(ctx))
	u.Expect(u.stack(ctx).Status.Run).To(HaveField("ID", recorded.ID), "it is named while the run continues")
	u.Expect(u.count(cloud.Update, cloud.Done, "other")).To(BeZero())

	u.loseController()
	u.release()
	u.Expect(u.awaitReason(ctx, v1.PendingOperationsReason)).To(ContainSubstring("::lost"))
	u.Expect(u.stack(ctx).Status.UnknownCreates).To(ConsistOf(HaveSuffix("::lost")), "that resource, and no other")
	u.Expect(u.count(cloud.Create, cloud.Begin, "lost")).To(Equal(1), "it was not started a second time")
	u.checkQuiet()

	u.edit(ctx, []thing{quickly, {name: "lost", value: "one"}})
	u.configure(ctx, func(spec *v1.StackSpec) { spec.PendingCreates = v1.PendingCreatesClear })
	u.awaitCurrent(ctx)
	existing, err := u.cloud().Things()
	u.Expect(err).NotTo(HaveOccurred())
	names, known := map[string]int{}, u.known()
	for _, t := range existing {
		names[t.Name]++
	}
	u.Expect(names).To(Equal(map[string]int{"other": 1, "lost": 2}), "the one that was named, and the one that was made after it was forgotten")
	u.Expect(known).To(HaveLen(2))
	u.Expect(u.stack(ctx).Status.UnknownCreates).To(BeEmpty())
	u.checkQuiet()
}
