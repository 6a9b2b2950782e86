// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

// The examples of the Pulumi operator that need no cloud account, and no language but YAML.

func example(name string) string { return filepath.Join("operator", "examples", name+".yaml") }

// withoutAPod makes the edit that the controller requires of the examples for v2.
func withoutAPod(s *v1.Stack) {
	s.Spec.WorkspaceTemplate = nil
	delete(s.Spec.EnvRefs, "PULUMI_ACCESS_TOKEN") // for Pulumi Cloud, which is not the backend here
}

func TestAStackWithAPodOfThePulumiOperatorSaysWhatToUseInstead(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	u := newTenant(t, shared)
	stack := u.bring(example("program-source"), u.nowhere)["passwords"]
	u.awaitStalled(stack, v1.InvalidSpecReason, "spec.workspaceTemplate", "--runner=job", "remove the template")

	edit(u, stack, withoutAPod)
	u.awaitReady(stack)
	u.Expect(u.textOf(stack, "password")).To(Equal("[secret]"))
	u.destroyedWith(stack, "passwords")
}

func TestABakedInProgramSaysWhatToUseInstead(t *testing.T) {
	t.Parallel()
	u := newTenant(t, shared)
	stack := u.bring(example("custom-source"), u.nowhere)["baked-in"]
	u.awaitStalled(stack, v1.InvalidSpecReason, "spec.workspaceTemplate", "fluxSource, programRef or projectRepo")
}

func TestThePulumiOperatorsFluxSourceRuns(t *testing.T) {
	t.Parallel()
	u := newTenant(t, shared)
	const body = "resources:\n  one:\n    type: random:RandomPassword\n    properties: {length: 20}\noutputs:\n  password: ${one.result}\n"
	repo := u.repo("programs", in("random-yaml", project("random-yaml", body)))
	stack := u.bring(example("flux-source"), u.following(repo), withoutAPod)["random-from-flux"]
	u.awaitReady(stack)
	u.Expect(u.textOf(stack, "password")).To(Equal("[secret]"))
	u.destroyedWith(stack, "random-yaml")
}

func TestTheTargetsOfThePulumiOperatorAreTheOnlyOnes(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	u := newTenant(t, shared)
	stack := u.bring(example("targets"), u.nowhere)["numbers"]
	u.awaitReady(stack)
	u.Expect(stack.Status.Outputs).To(And(HaveKey("wanted"), Not(HaveKey("left"))))
}

// Both Stacks of the example are for one stack: one updates it, the other previews it.
func TestThePreviewDemoOfThePulumiOperator(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	u := newTenant(t, shared)
	u.mayWrite("web-preview", "apps", "deployments")
	stacks := u.bring(example("preview-demo"), u.nowhere, withoutAPod)
	current, next := stacks["web-current"], stacks["web-next"]
	u.awaitReady(current)
	u.awaitPreviewed(next, "1 to update")

	var deployment appsv1.Deployment
	deployment.Name, deployment.Namespace = "web", u.namespace
	u.Expect(u.Get(u.ctx, keyOf(&deployment), &deployment)).To(Succeed())
	u.Expect(*deployment.Spec.Replicas).To(BeEquivalentTo(2))

	edit(u, current, func(s *v1.Stack) { s.Spec.Config["replicas"] = jsonText("3") })
	u.awaitReady(current)
	u.Expect(u.Get(u.ctx, keyOf(&deployment), &deployment)).To(Succeed())
	u.Expect(*deployment.Spec.Replicas).To(BeEquivalentTo(3))
	u.Expect(strings.Join(u.pulumiCalls(), "\n")).To(ContainSubstring("preview"))
}
