// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"os"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/inventory"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

// urnsInState lists the URNs of all that is in the state of a stack, but for the stack's own entry and default providers.
func (t *tenant) urnsInState(g Gomega, project, stack string) []string {
	text, err := os.ReadFile(t.stateFile(project, stack))
	g.Expect(err).NotTo(HaveOccurred())
	var state struct {
		Checkpoint struct {
			Latest struct {
				Resources []struct{ URN, Type string }
			}
		}
	}
	g.Expect(json.Unmarshal(text, &state)).To(Succeed())
	urns := []string{}
	for _, resource := range state.Checkpoint.Latest.Resources {
		if resource.Type != "pulumi:pulumi:Stack" && resource.Type != "pulumi:providers:lab" {
			urns = append(urns, resource.URN)
		}
	}
	return urns
}

// listed returns the URNs in the ConfigMap of the Stack.
func (t *tenant) listed(g Gomega, stack *v1.Stack) []string {
	g.Expect(t.Get(t.ctx, keyOf(stack), stack)).To(Succeed())
	g.Expect(stack.Status.Inventory).NotTo(BeNil())
	kept := &corev1.ConfigMap{}
	g.Expect(t.Get(t.ctx, client.ObjectKey{Namespace: stack.Namespace, Name: stack.Status.Inventory.ConfigMap}, kept)).To(Succeed())
	g.Expect(inventory.Digest(kept.BinaryData[inventory.Key])).To(Equal(stack.Status.Inventory.Digest))
	list, err := inventory.Decode(kept.BinaryData[inventory.Key])
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(list.Count()).To(BeEquivalentTo(stack.Status.Inventory.Count))
	urns := []string{}
	for _, resource := range list.Resources {
		g.Expect(resource.ID).NotTo(BeEmpty())
		urns = append(urns, resource.URN)
	}
	return urns
}

func TestTheListOfResourcesIsAsTheState(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	u := newTenant(t, shared)
	source := u.git(project("lab", twoThings("x", "y")))
	stack := u.stack(fromGit, destroyed)
	u.apply(stack)
	u.awaitReady(stack)
	u.Expect(u.listed(u, stack)).To(ConsistOf(u.urnsInState(u, "lab", "dev")))
	u.Expect(stack.Status.Inventory.Count).To(BeEquivalentTo(2))
	calls := len(u.pulumiCalls())
	u.Expect(calls).To(Equal(2), "stack init and up: the list takes no process of its own")

	// The run creates one thing and fails with another: things to be deleted last still exist.
	broken := `resources:
  d:
    type: lab:index:Thing
    properties: {name: d, value: x}
  e:
    type: lab:index:Thing
    properties: {name: e, value: x, failures: {create: "the cloud is full"}}
    options: {dependsOn: ["${d}"]}
`
	source.commit(project("lab", broken))
	u.awaitFailure(stack, v1.UpdateFailedReason, "the cloud is full")
	u.Expect(u.listed(u, stack)).To(ConsistOf(u.urnsInState(u, "lab", "dev")))
	u.Expect(stack.Status.Inventory.Count).To(BeEquivalentTo(3))

	revision := source.commit(project("lab", oneThing("one")))
	u.awaitReady(stack, atRevision(revision))
	u.Expect(u.listed(u, stack)).To(ConsistOf(u.urnsInState(u, "lab", "dev")))
	u.Expect(stack.Status.Inventory.Count).To(BeEquivalentTo(1))

	kept := &corev1.ConfigMap{}
	u.Expect(u.Get(u.ctx, client.ObjectKey{Namespace: u.namespace, Name: stack.Status.Inventory.ConfigMap}, kept)).To(Succeed())
	request(u, stack)
	u.awaitReady(stack)
	again := &corev1.ConfigMap{}
	u.Expect(u.Get(u.ctx, keyOf(kept), again)).To(Succeed())
	u.Expect(again.ResourceVersion).To(Equal(kept.ResourceVersion), "nothing changed is no write")
}
