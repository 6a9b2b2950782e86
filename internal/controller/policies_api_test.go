// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"strings"
	"testing"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// policyTenant is a namespace of a cluster with PolicySets, whose packs have config in a ConfigMap.
type policyTenant struct {
	*orderedTenant
	sources *packSources
	config  *corev1.ConfigMap
}

// TestPoliciesOnAnAPIServer has an API server of its own, as a PolicySet is of the whole cluster.
func TestPoliciesOnAnAPIServer(t *testing.T) {
	t.Parallel()
	sources := &packSources{digests: map[string]string{}}
	cluster := ownCluster(t, func(r *StackReconciler) {
		r.PackSources = sources
		r.Runner.(*promptRunner).violates = func(todo run.Run) run.Violations {
			for _, pack := range todo.Policies {
				if strings.Contains(string(pack.Config), "strict") {
					return violated(pack.Set)
				}
			}
			return run.Violations{}
		}
	})
	for name, test := range map[string]func(*policyTenant){
		"a Stack runs with packs, and other packs lead to a check":         testOtherPacks,
		"a pack that cannot be used stops updates, and nothing else":       testUnusablePack,
		"packs that are not enforced are in checks only":                   testWarn,
		"labels of Stacks and namespaces decide which Stacks are selected": testRelabelled,
		"a PolicySet says which Stacks violate it, also those of shards":   testReport,
	} {
		t.Run(name, func(t *testing.T) {
			u := &policyTenant{orderedTenant: cluster.tenant(t), sources: sources}
			u.config = &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "config"}, Data: map[string]string{"policies": "required-tags: advisory"}}
			u.create(u.config)
			test(u)
		})
	}
}

// createSet creates a PolicySet for the namespace.
func (u *policyTenant) createSet(name string, enforcement v1.PolicyEnforcement, changes ...func(*v1.PolicySet)) *v1.PolicySet {
	set := policySet(u.namespace+"-"+name, enforcement, append([]func(*v1.PolicySet){func(set *v1.PolicySet) {
		set.Spec.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: u.namespace}}
		set.Spec.Packs[0].Config = nil
		set.Spec.Packs[0].ConfigFrom = &v1.PolicyConfigReference{ConfigMap: v1.PolicyConfigMapReference{Name: "config", Namespace: u.namespace, Key: "policies"}}
	}}, changes...)...)
	u.sources.set(set.Name, "sha256:1")
	u.Expect(u.Create(u.ctx, set)).To(Succeed())
	return set
}

func (u *policyTenant) configure(text string) {
	u.config.Data["policies"] = text
	u.Expect(u.Update(u.ctx, u.config)).To(Succeed())
}

// await waits for the status of Compliant, "" for that there is none, and for the end of the run.
func (u *policyTenant) await(name string, status metav1.ConditionStatus) {
	u.Eventually(func(g Gomega) {
		stack := u.stack(name)
		g.Expect(stack.Status.Run).To(BeNil())
		if status == "" {
			g.Expect(compliant(stack)).To(BeNil())
			g.Expect(stack.Status.Policies).To(BeNil())
			return
		}
		g.Expect(compliant(stack)).To(HaveField("Status", status))
	}).Should(Succeed(), "%s: %s", name, status)
}

// hadPacks returns which runs of the Stack with the operation had packs.
func (u *policyTenant) hadPacks(name string, operation run.Operation) []bool {
	u.runner.mu.Lock()
	defer u.runner.mu.Unlock()
	var had []bool
	for _, todo := range u.runner.started {
		if todo.Namespace == u.namespace && todo.Name == name && todo.Operation == operation {
			had = append(had, len(todo.Policies) > 0)
		}
	}
	return had
}

func testOtherPacks(u *policyTenant) {
	u.createStack("before")
	u.awaitReady("before")
	set := u.createSet("guard", v1.PolicyEnforce)
	u.await("before", metav1.ConditionTrue)
	u.Expect(u.runs()).To(Equal([]string{"update before", "check-policies before"}))
	u.createStack("a")
	u.awaitReady("a")
	u.await("a", metav1.ConditionTrue)
	u.Expect(u.hadPacks("a", run.Update)).To(Equal([]bool{true}))
	u.Expect(u.hadPacks("a", run.CheckPolicies)).To(BeEmpty(), "the update was the check")

	u.configure(`required-tags: {enforcementLevel: mandatory, strict: true}`)
	u.await("a", metav1.ConditionFalse)
	u.await("before", metav1.ConditionFalse)
	u.Expect(u.stack("a").Status.Policies.Sets).To(ConsistOf(And(HaveField("Name", set.Name), HaveField("Mandatory", BeEquivalentTo(1)))))
	u.Expect(conditions.IsReady(u.stack("a"))).To(BeTrue())
	u.Expect(u.hadPacks("a", run.Update)).To(HaveLen(1), "a pack updates nothing")

	u.edit("a", func(s *v1.Stack) { s.Spec.Refresh = true })
	u.Eventually(func() string { return conditions.GetReason(u.stack("a"), meta.ReadyCondition) }).Should(Equal(v1.PolicyViolationReason))
	u.configure(`required-tags: advisory`)
	u.awaitReady("a")
	u.await("a", metav1.ConditionTrue)
	u.await("before", metav1.ConditionTrue)

	u.Expect(u.Delete(u.ctx, set)).To(Succeed())
	u.await("a", "")
	u.await("before", "")
	u.Expect(conditions.IsReady(u.stack("a"))).To(BeTrue())
}

func testUnusablePack(u *policyTenant) {
	bySelector := func(set *v1.PolicySet) {
		set.Spec.StackSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"guarded": "true"}}
	}
	guarded := func(s *v1.Stack) { s.Labels = map[string]string{"guarded": "true"} }
	u.createStack("destroyed", guarded)
	u.createStack("checked", guarded)
	u.awaitReady("destroyed", "checked")
	set := u.createSet("guard", v1.PolicyEnforce, bySelector)
	u.await("destroyed", metav1.ConditionTrue)
	u.await("checked", metav1.ConditionTrue)
	u.configure("- this is no object")
	reason := func(name string) func() string {
		return func() string { return conditions.GetReason(u.stack(name), meta.ReadyCondition) }
	}
	u.await("destroyed", metav1.ConditionUnknown)
	u.await("checked", metav1.ConditionUnknown)
	u.Expect(conditions.IsReady(u.stack("checked"))).To(BeTrue(), "nothing is due")
	u.edit("checked", func(s *v1.Stack) { s.Spec.Refresh = true })
	u.Eventually(reason("checked")).Should(Equal(v1.PolicyPackFailedReason))
	u.Expect(readyMessage(u.stack("checked"))).To(ContainSubstring("pack tags of PolicySet " + set.Name))

	u.createStack("others")
	u.awaitReady("others")
	u.Expect(u.hadPacks("others", run.Update)).To(Equal([]bool{false}))
	u.createStack("new", guarded)
	u.Eventually(reason("new")).Should(Equal(v1.PolicyPackFailedReason))
	u.edit("checked", func(s *v1.Stack) { metav1.SetMetaDataAnnotation(&s.ObjectMeta, v1.CheckDriftAnnotation, "1") })
	u.Eventually(func(g Gomega) {
		g.Expect(u.stack("checked").Status.Drift).To(HaveField("LastHandledCheck", "1"))
	}).Should(Succeed(), "a check for drift needs no packs")
	u.Expect(u.Delete(u.ctx, u.stack("destroyed"))).To(Succeed())
	u.awaitGone("destroyed")
	u.Expect(u.hadPacks("destroyed", run.Destroy)).To(Equal([]bool{false}))
	u.Expect(u.hadPacks("new", run.Update)).To(BeEmpty())

	u.configure("required-tags: advisory")
	u.awaitReady("new", "checked")
	u.Expect(u.hadPacks("new", run.Update)).To(Equal([]bool{true}))
	u.Expect(u.Delete(u.ctx, set)).To(Succeed())
}

func testWarn(u *policyTenant) {
	set := u.createSet("later", v1.PolicyWarn)
	u.configure(`required-tags: {enforcementLevel: mandatory, strict: true}`)
	u.createStack("a")
	u.awaitReady("a")
	u.await("a", metav1.ConditionFalse)
	u.Expect(u.hadPacks("a", run.Update)).To(Equal([]bool{false}))
	u.Expect(u.hadPacks("a", run.CheckPolicies)).To(Equal([]bool{true}))
	u.sources.set(set.Name, "")
	u.configure(`required-tags: {enforcementLevel: mandatory, strict: false}`)
	u.await("a", metav1.ConditionUnknown)
	u.edit("a", func(s *v1.Stack) { s.Spec.Refresh = true })
	u.Eventually(func() []bool { return u.hadPacks("a", run.Update) }).Should(Equal([]bool{false, false}))
	u.awaitReady("a")
	u.Expect(u.Delete(u.ctx, set)).To(Succeed())
	u.await("a", "")
}

func testRelabelled(u *policyTenant) {
	set := u.createSet("guard", v1.PolicyEnforce, func(set *v1.PolicySet) {
		set.Spec.NamespaceSelector.MatchLabels["team"] = "a"
		set.Spec.StackSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"tier": "prod"}}
	})
	u.createStack("a", func(s *v1.Stack) { s.Labels = map[string]string{"tier": "prod"} })
	u.awaitReady("a")
	u.Expect(u.stack("a").Status.Policies).To(BeNil())
	namespace := &corev1.Namespace{}
	u.Expect(u.Get(u.ctx, client.ObjectKey{Name: u.namespace}, namespace)).To(Succeed())
	namespace.Labels["team"] = "a"
	u.Expect(u.Update(u.ctx, namespace)).To(Succeed())
	u.await("a", metav1.ConditionTrue)
	u.edit("a", func(s *v1.Stack) { s.Labels["tier"] = "test" })
	u.await("a", "")
	u.edit("a", func(s *v1.Stack) { s.Labels["tier"] = "prod" })
	u.await("a", metav1.ConditionTrue)
	u.Expect(u.Delete(u.ctx, set)).To(Succeed())
	u.await("a", "")
}
