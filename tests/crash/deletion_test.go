// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package crash

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/cloud"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
	"github.com/flux-pulumi/pulumi-controller/tests/system"
)

// TestDeletion deletes Stacks when a destroy cannot, or should not, work at once.
func TestDeletion(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	s := start(t)
	t.Run("a destroy that fails keeps the object and says why", func(t *testing.T) { destroyFails(t, s) })
	t.Run("a run in flight is not cut", func(t *testing.T) { deleteInMidRun(t, s) })
	t.Run("a Secret that the destroy needs is named", func(t *testing.T) { deleteWithoutSecret(t, s) })
	t.Run("a backend that does not have the stack is not taken for a destroyed stack", func(t *testing.T) { deleteInAnotherBackend(t, s) })
	t.Run("without its Program it is destroyed from the state", func(t *testing.T) { deleteWithoutProgram(t, s) })
}

func destroyFails(t *testing.T, s *system.System) {
	ctx := t.Context()
	u := newSubject(t, s, "failing")
	u.create(ctx, quick(2, "one"), nil)
	u.awaitCurrent(ctx)
	journal := filepath.Join(u.cloudDir(), "journal.jsonl")
	u.Expect(os.Rename(journal, journal+".aside")).To(Succeed())
	u.Expect(os.Mkdir(journal, 0o700)).To(Succeed())

	u.Expect(s.Delete(ctx, u.stack(ctx))).To(Succeed())
	u.Expect(u.awaitReason(ctx, v1.DestroyFailedReason)).To(ContainSubstring("is a directory"), "the provider's own words")
	u.Eventually(func() int64 { return u.stack(ctx).Status.Failures }).Should(BeNumerically(">", 1), "it is tried again")
	u.Expect(u.stack(ctx).Finalizers).To(ContainElement(v1.StackFinalizer))

	u.Expect(os.Remove(journal)).To(Succeed())
	u.Expect(os.Rename(journal+".aside", journal)).To(Succeed())
	u.awaitGone(ctx)
	u.checkDestroyed()
}

func deleteInMidRun(t *testing.T, s *system.System) {
	ctx := t.Context()
	u := newSubject(t, s, "midrun")
	u.create(ctx, append(held(), thing{name: "after", value: "one", after: "slow"}), nil)
	u.awaitStarted(ctx, cloud.Create, "slow")
	u.Expect(s.Delete(ctx, u.stack(ctx))).To(Succeed())
	u.release()
	u.awaitGone(ctx)
	u.Expect(u.count(cloud.Create, cloud.Done, "after")).To(Equal(1), "the update was made to its end")
	u.checkDestroyed()
}

func deleteWithoutSecret(t *testing.T, s *system.System) {
	ctx := t.Context()
	u := newSubject(t, s, "secret")
	passphrase := func() *corev1.Secret {
		return &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: s.RuntimeNamespace(), Name: "passphrase"},
			StringData: map[string]string{"value": "passphrase"},
		}
	}
	u.Expect(s.Create(ctx, passphrase())).To(Succeed())
	u.create(ctx, quick(2, "one"), func(stack *v1.Stack) {
		stack.Spec.EnvRefs = map[string]v1.ResourceRef{"PULUMI_CONFIG_PASSPHRASE": {
			Type: v1.ResourceRefSecret, Secret: &v1.SecretKeyReference{Name: "passphrase", Key: "value"},
		}}
	})
	u.awaitCurrent(ctx)
	u.Expect(s.Delete(ctx, passphrase())).To(Succeed())
	u.Expect(s.Delete(ctx, u.stack(ctx))).To(Succeed())
	u.Expect(u.awaitReason(ctx, v1.InputsFailedReason)).To(ContainSubstring(s.RuntimeNamespace() + "/passphrase"))
	u.Expect(u.stack(ctx).Finalizers).To(ContainElement(v1.StackFinalizer))
	u.Expect(s.Create(ctx, passphrase())).To(Succeed())
	u.awaitGone(ctx)
	u.checkDestroyed()
}

func deleteWithoutProgram(t *testing.T, s *system.System) {
	ctx := t.Context()
	u := newSubject(t, s, "sourceless")
	u.create(ctx, quick(2, "one"), nil)
	u.awaitCurrent(ctx)
	u.Expect(s.Delete(ctx, &v1.Program{ObjectMeta: u.meta()})).To(Succeed())
	u.remove(ctx)
	u.checkDestroyed()
}

// The backend in the spec is not the one with the state.
func deleteInAnotherBackend(t *testing.T, s *system.System) {
	ctx := t.Context()
	u := newSubject(t, s, "moved")
	u.create(ctx, quick(2, "one"), nil)
	u.awaitCurrent(ctx)
	other := s.Path("backends", "other")
	u.Expect(os.Mkdir(other, 0o755)).To(Succeed())
	u.configure(ctx, func(spec *v1.StackSpec) { spec.Backend = "file://" + other })
	u.Expect(s.Delete(ctx, u.stack(ctx))).To(Succeed())
	u.Expect(u.awaitReason(ctx, v1.DestroyFailedReason)).To(ContainSubstring(u.backend()), "where the state is")
	u.Eventually(func() int64 { return u.stack(ctx).Status.Failures }).Should(BeNumerically(">", 1), "it is tried again")
	u.Expect(u.stack(ctx).Finalizers).To(ContainElement(v1.StackFinalizer))
	u.checkExact()

	u.configure(ctx, func(spec *v1.StackSpec) { spec.Backend = "file://" + u.backend() })
	u.awaitGone(ctx)
	u.checkDestroyed()
}
