// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package crash

import (
	"os"
	"testing"

	. "github.com/onsi/gomega"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/cloud"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

// The backend takes no more writes while a resource is created. Pulumi gives up after a minute and ends by itself, with the creation
// in flight in the state, which the next update would only warn of. It cannot remove its lock, either.
func TestBackendThatTakesNoWrites(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	ctx := t.Context()
	u := newSubject(t, start(t), "unsaved")
	u.create(ctx, append(quick(1, "one"), thing{name: "lost", value: "one", after: "quick-0", hold: cloud.Create}), nil)
	u.awaitStarted(ctx, cloud.Create, "lost")
	place, away := u.backend()+"/.pulumi", u.backend()+"/away"
	u.Expect(os.Rename(place, away)).To(Succeed())
	u.Expect(os.WriteFile(place, nil, 0o600)).To(Succeed(), "no directory, so that even root cannot write there")
	u.release()
	u.Eventually(func() []v1.InterruptedRun { return u.stack(ctx).Status.Interrupted }).ShouldNot(BeEmpty(), u.report(ctx))
	u.Expect(os.Remove(place)).To(Succeed())
	u.Expect(os.Rename(away, place)).To(Succeed())

	u.Expect(u.awaitReason(ctx, v1.PendingOperationsReason)).To(ContainSubstring("::lost"))
	u.Expect(u.stack(ctx).Status.UnknownCreates).To(ConsistOf(HaveSuffix("::lost")))
	u.Expect(u.count(cloud.Create, cloud.Begin, "lost")).To(Equal(1), "it was not started a second time")
	u.Expect(u.locks()).To(BeEmpty())

	u.configure(ctx, func(spec *v1.StackSpec) { spec.PendingCreates = v1.PendingCreatesClear })
	u.awaitCurrent(ctx)
	u.Expect(u.count(cloud.Create, cloud.Begin, "lost")).To(Equal(2), "a person has answered")
	u.checkQuiet()
}
