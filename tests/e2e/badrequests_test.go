// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	aclv1 "github.com/fluxcd/pkg/apis/acl"
	"github.com/fluxcd/pkg/apis/meta"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

// quiet expects that a Stack with an interval of an hour is not reconciled in a loop. A bystander with an interval of
// a second measures the time.
func (t *tenant) quiet(stack *v1.Stack) {
	t.test.Helper()
	bystander := t.bystander()
	t.Expect(t.Get(t.ctx, keyOf(stack), stack)).To(Succeed())
	version, before, passed := stack.ResourceVersion, t.reconcilesOf(stack), t.reconcilesOf(bystander)
	t.Eventually(func() int { return t.reconcilesOf(bystander) }).Should(BeNumerically(">=", passed+quietIntervals))
	t.Expect(t.reconcilesOf(stack)).To(BeNumerically("<=", before+1))
	t.Expect(t.Get(t.ctx, keyOf(stack), stack)).To(Succeed())
	t.Expect(stack.ResourceVersion).To(Equal(version), "the Stack was written to")
}

// bystander is a Stack that does nothing but look each second whether there is anything to do.
func (t *tenant) bystander() *v1.Stack {
	t.test.Helper()
	stack := t.stack(named("bystander"), fromProgram, func(s *v1.Stack) {
		s.Spec.Interval = seconds(1)
		s.Spec.ProgramRef.Name = "bystander"
	})
	if err := t.Get(t.ctx, keyOf(stack), &v1.Stack{}); apierrors.IsNotFound(err) { // the first time
		program := t.program("outputs: {}")
		program.Name = "bystander"
		t.apply(program)
		t.apply(stack)
	}
	t.awaitReady(stack)
	return stack
}

func TestARequestOfGarbageIsARequestAndNoMore(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	u := newTenant(t, shared)
	u.apply(u.program(oneThing("one")))
	stack := u.stack(fromProgram)
	u.apply(stack)
	u.awaitReady(stack)
	for name, garbage := range map[string]string{
		"very long":             strings.Repeat("x", 80<<10),
		"lines and quotes":      "one\ntwo\r\n\"three\"\t{}<&>",
		"letters of everywhere": "⏰ zażółć 時刻 \u202e\u0000\ufffd",
		"blank":                 " ",
	} {
		t.Log(name)
		before := u.upsOf(stack)
		edit(u, stack, annotate(meta.ReconcileRequestAnnotation, garbage, meta.ForceRequestAnnotation, garbage, v1.ReconcileRequestAnnotation, garbage))
		u.Eventually(func() int { return u.upsOf(stack) }).Should(Equal(before + 1))
		u.awaitReady(stack, func(g Gomega, s *v1.Stack) { g.Expect(s.Status.LastHandledReconcileAt).NotTo(BeEmpty()) })
		u.kept("app", "one")
		status, err := json.Marshal(stack.Status)
		u.Expect(err).NotTo(HaveOccurred())
		u.Expect(len(status)).To(BeNumerically("<", 16<<10))
		u.quiet(stack)
		u.Expect(u.upsOf(stack)).To(Equal(before + 1))
		u.Expect(stack.Status.Run).To(BeNil())
	}
}

// upsOf counts the updates of a Stack.
func (t *tenant) upsOf(stack *v1.Stack) int {
	t.test.Helper()
	count := 0
	for _, call := range t.pulumiCalls() {
		if strings.Contains(call, " up ") && strings.Contains(call, "/"+stack.Spec.Stack) {
			count++
		}
	}
	return count
}

func TestAReferenceToAnotherNamespaceStalls(t *testing.T) {
	t.Parallel()
	u := newTenant(t, shared)
	u.apply(u.program(oneThing("one")))
	stack := u.stack(fromProgram, retriedEvery(time.Second), func(s *v1.Stack) { s.Spec.Suspend = true })
	u.apply(stack)
	for name, test := range map[string]struct {
		refer func(*v1.Stack)
		text  string
	}{
		"a source": {func(s *v1.Stack) {
			fromGit(s)
			s.Spec.FluxSource.SourceRef.Namespace = "default"
		}, "can't access 'GitRepository/default/app'"},
		"a Secret": {func(s *v1.Stack) {
			fromProgram(s)
			ref := secretKey("app", "token")
			ref.Secret.Namespace = "kube-system"
			s.Spec.EnvRefs["TOKEN"] = ref
		}, "spec.envRefs.TOKEN: can't access 'Secret/kube-system/app'"},
	} {
		t.Log(name)
		edit(u, stack, func(s *v1.Stack) {
			s.Spec.Suspend, s.Spec.FluxSource, s.Spec.ProgramRef = false, nil, nil
			delete(s.Spec.EnvRefs, "TOKEN")
			test.refer(s)
		})
		u.awaitStalled(stack, aclv1.AccessDeniedReason, test.text, "cross-namespace references have been blocked")
		u.quiet(stack)
	}
	edit(u, stack, func(s *v1.Stack) {
		delete(s.Spec.EnvRefs, "TOKEN")
		s.Spec.FluxSource = nil
		fromProgram(s)
	})
	u.awaitReady(stack)
}

func TestAnIntervalOfNothingIsNoInterval(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	u := newTenant(t, shared)
	u.apply(u.program(oneThing("one")))
	stack := u.stack(fromProgram, func(s *v1.Stack) {
		s.Spec.Interval, s.Spec.RetryInterval = &metav1.Duration{}, &metav1.Duration{}
	})
	u.apply(stack)
	u.awaitReady(stack)
	u.quiet(stack)
}
