// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/policysets"
)

// reportOnPolicySets adds the controller of PolicySets as the process has it: with a cache of its
// own for the Stacks of all shards.
func reportOnPolicySets(mgr ctrl.Manager, stacks *StackReconciler, of string) error {
	selector, err := metav1.ParseToLabelSelector(of)
	if err != nil {
		return err
	}
	sets := &policysets.Reconciler{Client: mgr.GetClient(), APIReader: mgr.GetAPIReader(), Events: quietEvents{}, Owner: FieldOwner, Sources: stacks.PackSources, Now: stacks.Now}
	return sets.SetupWithManager(mgr, policysets.Options{Selector: *selector, PartialCache: true})
}

// awaitReport waits for how many Stacks a PolicySet selects, and how many of them violate it, or
// have no result.
func (u *policyTenant) awaitReport(set *v1.PolicySet, stacks, violating, unchecked int32) v1.PolicySetStatus {
	var is v1.PolicySet
	u.Eventually(func(g Gomega) {
		g.Expect(u.Get(u.ctx, client.ObjectKeyFromObject(set), &is)).To(Succeed())
		g.Expect([]int32{is.Status.Stacks, is.Status.Violating, is.Status.Unchecked}).To(Equal([]int32{stacks, violating, unchecked}))
		g.Expect(is.Status.ObservedGeneration).To(Equal(is.Generation))
	}).Should(Succeed())
	return is.Status
}

func testReport(u *policyTenant) {
	readiness := func(set *v1.PolicySet) func() string {
		return func() string {
			var is v1.PolicySet
			u.Expect(u.Get(u.ctx, client.ObjectKeyFromObject(set), &is)).To(Succeed())
			return conditions.GetReason(&is, meta.ReadyCondition)
		}
	}
	u.createStack("a")
	u.awaitReady("a")
	set := u.createSet("guard", v1.PolicyWarn)
	status := u.awaitReport(set, 1, 0, 0)
	u.Expect(status.Packs).To(ConsistOf(v1.PolicyPackStatus{Name: "tags", Revision: "main@sha256:1", Digest: "sha256:1"}))
	u.Expect(readiness(set)()).To(Equal(meta.SucceededReason))

	u.configure(`required-tags: {enforcementLevel: mandatory, strict: true}`)
	violating := v1.ViolatingStack{Namespace: u.namespace, Name: "a", Policies: []string{"tags/required-tags"}}
	status = u.awaitReport(set, 1, 1, 0)
	u.Expect(status.ViolatingStacks).To(ConsistOf(violating))

	// Nothing runs the Stacks of shard two here: the test writes what their controller would write.
	u.createStack("b", inShard("two"))
	u.awaitReport(set, 2, 1, 1)
	other := u.stack("b")
	other.Status.Policies = &v1.PoliciesStatus{Sets: []v1.PolicySetResult{{Name: set.Name, Digest: status.Digest, Mandatory: 1}}}
	u.Expect(u.Status().Update(u.ctx, other)).To(Succeed())
	status = u.awaitReport(set, 2, 2, 0)
	u.Expect(status.ViolatingStacks).To(ConsistOf(violating, v1.ViolatingStack{Namespace: u.namespace, Name: "b"}))

	u.configure("- this is no object")
	u.Eventually(readiness(set)).Should(Equal(v1.InputsFailedReason))
	u.awaitReport(set, 2, 2, 2)
	u.configure("required-tags: advisory")
	u.Eventually(readiness(set)).Should(Equal(meta.SucceededReason))
	u.awaitReport(set, 2, 1, 1)
	u.Expect(u.Delete(u.ctx, u.stack("b"))).To(Succeed())
	u.Expect(u.Delete(u.ctx, set)).To(Succeed())
}
