// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"testing"

	eventv1 "github.com/fluxcd/pkg/apis/event/v1beta1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

// isAbout checks the subject and the content of an event.
func (t *tenant) isAbout(event eventv1.Event, stack *v1.Stack, revision string) {
	t.test.Helper()
	t.Expect(event.InvolvedObject.APIVersion).To(Equal(v1.GroupVersion.String()))
	t.Expect(event.InvolvedObject.Kind).To(Equal(v1.StackKind))
	t.Expect(event.InvolvedObject.Namespace).To(Equal(stack.Namespace))
	t.Expect(event.InvolvedObject.UID).To(Equal(stack.UID))
	t.Expect(event.ReportingController).To(Equal("pulumi-controller"))
	t.Expect(event.Metadata).To(HaveKeyWithValue("revision", revision))
	t.Expect(event.Metadata).To(HaveKeyWithValue("cluster", "production"), "what the Alert adds")
}

func TestAnAlertReportsSuccessAndFailure(t *testing.T) {
	t.Parallel()
	u := newTenant(t, shared)
	all, failures := u.hook(), u.hook()
	u.tells(all, "all", "info", "[{kind: Stack, name: '*'}]")
	u.tells(failures, "failures", "error", "[{kind: Stack, name: app}]")
	source := u.git(project("lab", oneThing("one")))
	first := u.awaitArtifact(source.object, "")
	stack := u.stack(fromGit)
	u.apply(stack)
	u.awaitReady(stack, atRevision(first))

	u.isAbout(u.awaitNotice(all, stack, "info", "ReconciliationSucceeded", "Update succeeded: 1 created in "), stack, first)

	second := source.commit(project("lab", oneThing("two", "failures: {update: the quota is exceeded}")))
	u.awaitFailure(stack, v1.UpdateFailedReason, "the quota is exceeded")
	for _, received := range []*hook{all, failures} {
		u.isAbout(u.awaitNotice(received, stack, "error", v1.UpdateFailedReason, "Update failed: ", "the quota is exceeded"), stack, second)
	}
	for _, event := range failures.events(u) {
		u.Expect(event.Severity).To(Equal("error"))
	}
}

// A retry that fails as before is no news, but one that succeeds is.
func TestAnAlertReportsTheEndOfAFailure(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	u := newTenant(t, shared)
	chat := u.hook()
	u.tells(chat, "all", "info", "[{kind: Stack, name: app}]")
	u.apply(u.program(oneThing("one")))
	stack := u.stack(fromProgram, func(s *v1.Stack) { s.Spec.EnvRefs["TOKEN"] = secretKey("late", "token") })
	u.apply(stack)
	u.awaitFailure(stack, v1.InputsFailedReason, "not found")
	u.awaitNotice(chat, stack, "error", v1.InputsFailedReason, "not found")

	u.apply(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "late"}, StringData: map[string]string{"token": "a-token-at-last"}})
	u.awaitReady(stack)
	u.awaitNotice(chat, stack, "info", "ReconciliationSucceeded", "1 created")
}

// Selecting by labels needs the permissions of config/notifications: notification-controller has to read the Stack.
func TestAnAlertSelectsStacksByTheirLabels(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	u := newTenant(t, shared)
	all, ours := u.hook(), u.hook()
	u.tells(all, "all", "info", "[{kind: Stack, name: '*'}]")
	u.tells(ours, "ours", "info", "[{kind: Stack, name: '*', matchLabels: {team: ours}}]")
	u.apply(u.program(oneThing("one")))
	of := func(team string) func(*v1.Stack) {
		return func(s *v1.Stack) {
			s.Labels = map[string]string{"team": team}
			s.Spec.EnvRefs["TOKEN"] = secretKey("missing", "token")
		}
	}
	theirs := u.stack(named("theirs"), fromProgram, of("theirs"))
	u.apply(theirs)
	u.awaitNotice(all, theirs, "error", v1.InputsFailedReason)
	mine := u.stack(named("mine"), fromProgram, of("ours"))
	u.apply(mine)

	u.awaitNotice(ours, mine, "error", v1.InputsFailedReason, "not found")
	for _, event := range ours.events(u) {
		u.Expect(event.InvolvedObject.Name).To(Equal("mine"))
	}
}
