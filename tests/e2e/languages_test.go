// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"strings"
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/sources"
)

// written is a program in the language of tests/lab, whose dependencies must be installed before it can run.
func written(program string) sources.Files {
	return sources.Files{"Pulumi.yaml": "name: lab\nruntime: lab\n", "program.json": program}
}

// The destroy does not run the program, and needs its dependencies for the resource of a dynamic provider.
func TestTheDependenciesOfAProgramInGitAreInstalled(t *testing.T) {
	t.Parallel()
	u := newTenant(t, shared)
	source := u.git(written(`{"things": ["a"], "install": {"stderr": ["npm error code E404 for $TOKEN"], "fail": "exit status 1"}}`))
	stack := u.stack(fromGit, destroyed, retriedEvery(time.Hour), func(s *v1.Stack) { s.Spec.EnvRefs["TOKEN"] = secretKey("token", "token") })
	u.apply(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "token"}, StringData: map[string]string{"token": "CANARYinstallation"}})
	u.apply(stack)
	u.awaitFailure(stack, v1.UpdateFailedReason, "installing the dependencies of the program: npm error code E404 for ***")
	u.Expect(u.journal(u)).To(BeEmpty())

	program := written(`{"things": ["a"], "dynamic": ["d"], "install": {"write": {"yarn.lock": "a@1:\n  version 1.0.1\n"}}}`)
	program["yarn.lock"] = "a@1:\n  version 1.0.0\n"
	second := source.commit(program)
	const warning = ". Warning: yarn.lock of the source did not fit the program"
	u.Eventually(func(g Gomega) {
		g.Expect(u.Get(u.ctx, keyOf(stack), stack)).To(Succeed())
		g.Expect(conditions.IsReady(stack)).To(BeTrue())
		g.Expect(conditions.GetMessage(stack, meta.ReadyCondition)).To(HavePrefix("Applied revision: " + second + warning))
	}).Should(Succeed())
	u.awaitEvent(stack, corev1.EventTypeNormal, meta.ReconciliationSucceededReason, "Update succeeded: 2 created", warning)
	u.Expect(u.things()).To(HaveKey("a"))
	u.Expect(stack.Status.Outputs).To(HaveKeyWithValue("installed", HaveField("Raw", BeEquivalentTo("1"))))
	u.Expect(stack.Status.ProjectInfo.Runtime).To(Equal("lab"))

	u.Expect(u.Client().Delete(u.ctx, stack)).To(Succeed())
	u.awaitGone(stack)
	u.Expect(u.things()).To(BeEmpty())
	calls, err := u.calls(u.backendURL())
	u.Expect(err).NotTo(HaveOccurred())
	var made []string
	for _, call := range calls {
		for _, what := range []string{" install ", " stack init ", " up ", " destroy "} {
			if strings.Contains(call+" ", what) {
				made = append(made, strings.TrimSpace(what))
			}
		}
	}
	u.Expect(made).To(Equal([]string{"install", "install", "stack init", "up", "install", "destroy"}), "%q", calls)
}
