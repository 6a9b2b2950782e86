// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/process"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
	"github.com/flux-pulumi/pulumi-controller/tests/sources"
)

const packIsMissing = `dir "lab" is not in the artifact`

// guarded is a tenant whose namespace a PolicySet selects.
type guarded struct {
	*tenant
	set *v1.PolicySet
	// packs is the repository with the pack, in the directory lab.
	packs *gitSource
}

// TestPoliciesGuardTheStacksOfANamespace follows a Stack from the violation of a policy to its deletion with a pack that is
// broken.
func TestPoliciesGuardTheStacksOfANamespace(t *testing.T) {
	t.Parallel()
	u := newGuarded(t)
	program, stack := u.program(oneThing("forbidden")), u.stack(fromProgram, destroyed)
	u.apply(program)
	u.apply(stack)
	u.awaitFailure(stack, v1.PolicyViolationReason, "policy no-forbidden-values of pack lab in PolicySet "+u.set.Name, "the value is forbidden")
	u.Expect(u.journal(u)).To(BeEmpty(), "nothing is made")
	u.awaitCompliant(stack, metav1.ConditionFalse, u.set.Name+"/lab/no-forbidden-values")
	u.awaitViolating(`lab/no-forbidden-values`)
	u.theGuideShowsWhoViolatesPolicies()
	u.aStackOfAnotherNamespaceIsNotGuarded()

	edit(u.tenant, program, func(p *v1.Program) { u.setProgram(p, oneThing("unwise")) })
	u.awaitReady(stack)
	u.awaitCompliant(stack, metav1.ConditionTrue, "No mandatory policy is violated (1 violation of advisory policies)")
	u.awaitViolating()

	ran := len(u.updates())
	edit(u.tenant, u.set, func(s *v1.PolicySet) {
		s.Spec.Packs[0].Config = map[string]apiextensionsv1.JSON{"no-unwise-values": {Raw: []byte(`{"enforcementLevel":"mandatory"}`)}}
	})
	u.awaitCompliant(stack, metav1.ConditionFalse, u.set.Name+"/lab/no-unwise-values")
	u.awaitEvent(stack, corev1.EventTypeWarning, v1.PolicyViolationReason, "1 violation of mandatory policies", "no-unwise-values")
	u.awaitViolating(`lab/no-unwise-values`)
	u.awaitReady(stack)
	u.Expect(u.updates()).To(HaveLen(ran), "a change of a pack is no reason for an update")
	u.Expect(u.things()).To(Equal(map[string]string{"a": "unwise"}))

	u.packs.move("lab", sources.Files{"README": "The pack has moved."})
	u.awaitCompliant(stack, metav1.ConditionUnknown, packIsMissing)
	edit(u.tenant, program, func(p *v1.Program) { u.setProgram(p, oneThing("fine")) })
	u.awaitFailure(stack, v1.PolicyPackFailedReason, packIsMissing)
	u.Expect(u.things()).To(Equal(map[string]string{"a": "unwise"}), "no update is unguarded")
	u.delete(stack)
	u.awaitGone(stack)
	u.Expect(u.things()).To(BeEmpty(), "a destroy needs no packs")
}

// A pack is verified and fetched as a program is, whatever its source: not each keeps that a file is executable.
func TestPacksComeFromEveryKindOfSource(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	u := &guarded{tenant: newTenant(t, shared)}
	pack := in("lab", u.labPack())
	u.git(pack)
	u.push(pack, "")
	u.apply(u.ociRepository())
	bucket := u.bucket()
	u.Expect(u.s3.PutObjects(u.ctx, bucket.Spec.BucketName, pack)).To(Succeed())
	u.apply(bucket)
	u.publishFiles("main@sha256:1", pack)
	kinds := []string{sourcev1.GitRepositoryKind, sourcev1.OCIRepositoryKind, sourcev1.BucketKind, sourcev1.ExternalArtifactKind}
	var packs []v1.PolicyPack
	for _, kind := range kinds {
		packs = append(packs, v1.PolicyPack{
			Name: strings.ToLower(kind), Dir: "lab", SourceRef: v1.PolicySourceReference{Kind: kind, Name: "app", Namespace: u.namespace},
		})
	}
	u.guards(packs...)
	program, stack := u.program(oneThing("forbidden")), u.stack(fromProgram)
	u.apply(program)
	u.apply(stack)
	u.awaitFailure(stack, v1.PolicyViolationReason, "and 3 more violations")
	u.Expect(u.journal(u)).To(BeEmpty(), "nothing is made")
	var violated []string
	for _, v := range stack.Status.Policies.Violations {
		violated = append(violated, v.Pack+"/"+v.Policy)
	}
	u.Expect(violated).To(ConsistOf("gitrepository/no-forbidden-values", "ocirepository/no-forbidden-values", "bucket/no-forbidden-values", "externalartifact/no-forbidden-values"))
	u.Expect(u.set.Status.Packs).To(HaveLen(len(kinds)))

	u.publish(publication{revision: "main@sha256:2", archive: u.archive(entriesOf(pack)...), handler: content([]byte("something else"))})
	edit(u.tenant, program, func(p *v1.Program) { u.setProgram(p, oneThing("fine")) })
	u.awaitFailure(stack, v1.PolicyPackFailedReason, "policy pack externalartifact", "digest")
	u.Expect(u.journal(u)).To(BeEmpty(), "no update is unguarded")
}

// newGuarded makes a PolicySet for a namespace, with a pack from a git repository.
func newGuarded(t *testing.T) *guarded {
	t.Helper()
	u := &guarded{tenant: newTenant(t, shared)}
	u.packs = u.git(in("lab", u.labPack()))
	u.guards(v1.PolicyPack{
		Name: "lab", Dir: "lab", SourceRef: v1.PolicySourceReference{Kind: "GitRepository", Name: u.packs.object.Name, Namespace: u.namespace},
	})
	return u
}

// labPack is a pack that needs no packages.
func (u *guarded) labPack() sources.Files {
	u.test.Helper()
	executable, err := process.FindBin("lab/pulumi-analyzer-lab")
	u.Expect(err).NotTo(HaveOccurred())
	text, err := os.ReadFile(executable)
	u.Expect(err).NotTo(HaveOccurred())
	return sources.Files{
		"PulumiPolicy.yaml":   "runtime: {name: go, options: {binary: pulumi-analyzer-lab}}\n",
		"pulumi-analyzer-lab": string(text),
	}
}

// guards makes a PolicySet for the namespace, and waits until its packs are ready.
func (u *guarded) guards(packs ...v1.PolicyPack) {
	u.test.Helper()
	team := map[string]string{"example.com/team": u.namespace}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: u.namespace}}
	edit(u.tenant, namespace, func(n *corev1.Namespace) {
		for key, value := range team {
			metav1.SetMetaDataLabel(&n.ObjectMeta, key, value)
		}
	})
	u.set = &v1.PolicySet{ObjectMeta: metav1.ObjectMeta{Name: u.namespace}, Spec: v1.PolicySetSpec{
		NamespaceSelector: &metav1.LabelSelector{MatchLabels: team},
		Packs:             packs,
	}}
	u.Expect(u.Create(u.ctx, u.set)).To(Succeed())
	u.test.Cleanup(func() { u.Expect(u.Client().Delete(context.Background(), u.set)).To(Succeed()) })
	u.Eventually(func(g Gomega) {
		g.Expect(u.Get(u.ctx, client.ObjectKeyFromObject(u.set), u.set)).To(Succeed())
		g.Expect(conditions.IsReady(u.set)).To(BeTrue(), "Ready is %v", conditions.Get(u.set, meta.ReadyCondition))
	}).Should(Succeed())
}

// awaitCompliant waits for the result of a check of policies.
func (u *guarded) awaitCompliant(stack *v1.Stack, status metav1.ConditionStatus, text string) {
	u.test.Helper()
	u.Eventually(func(g Gomega) {
		g.Expect(u.Get(u.ctx, keyOf(stack), stack)).To(Succeed())
		g.Expect(conditions.Get(stack, v1.CompliantCondition)).To(And(HaveField("Status", status), HaveField("Message", ContainSubstring(text))))
	}).Should(Succeed())
}

// awaitViolating waits until the PolicySet says that the Stack violates these policies, and no other does any.
func (u *guarded) awaitViolating(policies ...string) {
	u.test.Helper()
	violating := BeEmpty()
	if len(policies) > 0 {
		violating = Equal([]v1.ViolatingStack{{Namespace: u.namespace, Name: "app", Policies: policies}})
	}
	u.Eventually(func(g Gomega) {
		g.Expect(u.Get(u.ctx, client.ObjectKeyFromObject(u.set), u.set)).To(Succeed())
		g.Expect(u.set.Status.ViolatingStacks).To(violating)
		g.Expect(u.set.Status).To(And(HaveField("Stacks", int32(1)), HaveField("Unchecked", int32(0))))
	}).Should(Succeed())
}

// theGuideShowsWhoViolatesPolicies types the commands of the guide.
func (u *guarded) theGuideShowsWhoViolatesPolicies() {
	u.test.Helper()
	guide := u.pageOf("guides/policies.md")
	types := func(commands string) string {
		commands = strings.NewReplacer("assets", "app", "-n apps", "-n "+u.namespace, "policyset production", "policyset "+u.set.Name).Replace(commands)
		output, err := u.shell(u.dir, commands)
		u.Expect(err).NotTo(HaveOccurred(), "%s: %s", commands, output)
		return output
	}
	u.Expect(types(guide.fenced("Warn first", "sh")[0])).To(And(
		MatchRegexp(`(?m)^`+u.namespace+` +app +.*`+u.set.Name+`/lab/no-forbidden-values`),
		MatchRegexp(`(?m)^`+u.set.Name+`/lab/no-forbidden-values: urn:pulumi:\S+::a: `),
	))
	u.Expect(types(guide.fenced("`PolicyPackFailed`", "sh")[0])).To(ContainSubstring("Packs are ready: lab ("))

	typed := strings.Split(guide.fenced("Warn first", "console")[0], "\n")
	table := newFluxCLI(u.tenant).does(strings.Fields(strings.TrimPrefix(typed[0], "$ flux pulumi "))...)
	header, _, _ := strings.Cut(table, "\n")
	u.Expect(strings.Fields(header)).To(Equal(strings.Fields(typed[1])))
	u.Expect(fields(table, u.set.Name)[1:5]).To(Equal([]string{"Enforce", "1", "1", "0"}))
}

// updates are the calls of Pulumi for updates.
func (u *guarded) updates() []string {
	u.test.Helper()
	var updates []string
	for _, call := range u.pulumiCalls() {
		if strings.HasPrefix(call, "up ") {
			updates = append(updates, call)
		}
	}
	return updates
}

// aStackOfAnotherNamespaceIsNotGuarded applies the program that violates a policy in a namespace without the label.
func (u *guarded) aStackOfAnotherNamespaceIsNotGuarded() {
	u.test.Helper()
	other := newTenant(u.test, shared)
	other.apply(other.program(oneThing("forbidden")))
	stack := other.stack(fromProgram)
	other.apply(stack)
	other.awaitReady(stack)
	other.Expect(other.things()).To(Equal(map[string]string{"a": "forbidden"}))
	other.Expect(stack.Status.Policies).To(BeNil())
	other.Expect(conditions.Has(stack, v1.CompliantCondition)).To(BeFalse())
}
