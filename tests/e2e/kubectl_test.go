// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	. "github.com/onsi/gomega"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/process"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

// kubectlWaits runs the real kubectl wait on the Stack app and expects it to succeed.
func (t *tenant) kubectlWaits(args ...string) {
	t.test.Helper()
	output, err := t.kubectlWait(patience.String(), args...)
	t.Expect(err).NotTo(HaveOccurred(), "kubectl wait %s: %s", strings.Join(args, " "), output)
}

func (t *tenant) kubectlWait(timeout string, args ...string) (output string, err error) {
	t.test.Helper()
	kubectl, err := process.FindBin("kubectl")
	t.Expect(err).NotTo(HaveOccurred())
	args = append([]string{"--kubeconfig", t.ControlPlane.KubeconfigPath(), "--namespace", t.namespace,
		"wait", "stack/app", "--timeout=" + timeout}, args...)
	command := exec.CommandContext(t.ctx, kubectl, args...)
	command.Env = []string{"HOME=" + t.dir}
	text, err := command.CombinedOutput()
	return string(text), err
}

// isToKstatus expects this verdict of kstatus on the Stack as it is now.
func (t *tenant) isToKstatus(stack *v1.Stack, expected status.Status) {
	t.test.Helper()
	t.Expect(t.Get(t.ctx, keyOf(stack), stack)).To(Succeed())
	t.Expect(computed(stack)).To(Equal(expected), shortConditions(stack))
}

// awaitKstatus waits for this verdict of kstatus on the Stack.
func (t *tenant) awaitKstatus(stack *v1.Stack, expected status.Status) {
	t.test.Helper()
	t.Eventually(func(g Gomega) {
		g.Expect(t.Get(t.ctx, keyOf(stack), stack)).To(Succeed())
		g.Expect(computed(stack)).To(Equal(expected), shortConditions(stack))
	}).Should(Succeed())
}

const (
	ready    = "--for=condition=Ready"
	notReady = "--for=condition=Ready=false"
)

// TestWhoWaitsForAStackIsNeverMisled goes through the life of a Stack, with kubectl wait as scripts use it and
// kstatus as kustomize-controller and flux do.
func TestWhoWaitsForAStackIsNeverMisled(t *testing.T) {
	t.Parallel()
	u := newTenant(t, shared)
	program := u.program(oneThing("one", "delays: {create: 2s, update: 2s}"))
	u.apply(program)
	stack := u.stack(fromProgram, destroyed)
	u.apply(stack)
	u.isToKstatus(stack, status.InProgressStatus)
	u.kubectlWaits(ready)
	u.Expect(u.things()).To(Equal(map[string]string{"a": "one"}), "created, when it is Ready")
	u.isToKstatus(stack, status.CurrentStatus)
	u.kubectlWaits("--for=jsonpath={.status.outputs.value}=one")
	u.kubectlWaits("--for=jsonpath={.status.conditions[?(@.type=='Ready')].status}=True")

	// A failure that is retried.
	edit(u, program, func(p *v1.Program) { u.setProgram(p, oneThing("two", "failures: {update: the quota is exceeded}")) })
	u.kubectlWaits(notReady)
	u.awaitFailure(stack, v1.UpdateFailedReason, "the quota is exceeded")
	u.isToKstatus(stack, status.InProgressStatus)
	output, err := u.kubectlWait("1s", ready)
	u.Expect(err).To(HaveOccurred())
	u.Expect(output).To(ContainSubstring("timed out waiting for the condition on stacks/app"))

	// A retry that succeeds.
	edit(u, program, func(p *v1.Program) { u.setProgram(p, oneThing("two")) })
	u.kubectlWaits("--for=jsonpath={.status.outputs.value}=two")
	u.kubectlWaits(ready)
	u.isToKstatus(stack, status.CurrentStatus)

	// A spec that cannot work: waiters see it at once, also as a failure.
	edit(u, stack, func(s *v1.Stack) {
		s.Spec.ProgramRef = nil
		from(sourcev1.GitRepositoryKind, "")(s)
		s.Spec.FluxSource.SourceRef.Namespace = "somebody-elses"
	})
	u.kubectlWaits("--for=condition=Stalled")
	u.awaitStalled(stack, "AccessDenied", "somebody-elses")
	u.isToKstatus(stack, status.FailedStatus)

	// Once fixed, no earlier status passes for the answer.
	edit(u, stack, func(s *v1.Stack) { s.Spec.FluxSource = nil; fromProgram(s) })
	u.kubectlWaits(ready)
	u.isToKstatus(stack, status.CurrentStatus)

	suspendedAndDeleted(u, stack)
}

// suspendedAndDeleted is the end of the Stack's life.
func suspendedAndDeleted(u *tenant, stack *v1.Stack) {
	u.test.Helper()
	edit(u, stack, func(s *v1.Stack) { s.Spec.Suspend = true })
	u.isToKstatus(stack, status.InProgressStatus) // the spec has changed, and nothing says that it is applied
	edit(u, stack, func(s *v1.Stack) { s.Spec.Suspend = false })
	u.kubectlWaits(ready)
	u.awaitKstatus(stack, status.CurrentStatus)
	u.Expect(stack.Status.ObservedGeneration).To(Equal(stack.Generation))

	u.delete(stack)
	u.kubectlWaits("--for=delete")
	u.Expect(u.things()).To(BeEmpty())
}

// If the spec is edited while an earlier one is being applied, Ready must be about the last edit.
func TestKubectlWaitSpeaksForTheLastEdit(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	u := newTenant(t, shared)
	u.apply(u.program(oneThing("one", "hold: create")))
	second := u.program(oneThing("two"))
	second.Name = "second"
	u.apply(second)
	stack := u.stack(fromProgram, func(s *v1.Stack) { s.Spec.Stack = "organization/lab/dev" })
	u.apply(stack)
	u.awaitJournal("create", "begin", "a")
	edit(u, stack, func(s *v1.Stack) { s.Spec.ProgramRef.Name = "second" })
	u.Expect(u.cloud.Release()).To(Succeed())
	u.kubectlWaits(ready)
	u.Expect(u.things()).To(Equal(map[string]string{"a": "two"}))
	u.isToKstatus(stack, status.CurrentStatus)
}
