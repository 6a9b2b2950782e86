// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

// triesLayers applies one of the examples with the Stacks network, cluster and app, the Stacks first, and waits for all of them.
func (t *tenant) triesLayers(folder string) []*v1.Stack {
	t.test.Helper()
	found := t.tries(folder+"/stacks.yaml", nil)
	t.tries(folder+"/programs.yaml", nil)
	stacks := []*v1.Stack{found["network"], found["cluster"], found["app"]}
	for _, stack := range stacks {
		t.awaitReady(stack)
	}
	return stacks
}

// projectsOf lists the projects for which Pulumi was called with the verb, in order.
func (t *tenant) projectsOf(verb string) (projects []string) {
	t.test.Helper()
	for _, call := range t.pulumiCalls() {
		_, stack, found := strings.Cut(call, "--stack organization/")
		if found && strings.Contains(call, " "+verb+" ") {
			project, _, _ := strings.Cut(stack, "/")
			projects = append(projects, project)
		}
	}
	return projects
}

// deletedTogether deletes Stacks that are in order, and expects them destroyed from the last to the first.
func (t *tenant) deletedTogether(stacks []*v1.Stack) {
	t.test.Helper()
	for _, stack := range stacks {
		t.delete(stack)
	}
	for _, stack := range stacks {
		t.awaitGone(stack)
		t.Expect(t.stateFile(stack.Name, "dev")).NotTo(BeAnExistingFile())
	}
	t.Expect(t.projectsOf("destroy")).To(Equal([]string{"app", "cluster", "network"}))
}

func TestTheExampleDependenciesRunsInOrder(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	u := newTenant(t, shared)
	stacks := u.triesLayers("dependencies")
	u.Expect(u.projectsOf("up")).To(Equal([]string{"network", "cluster", "app"}))
	u.Expect(u.textOf(stacks[2], "name")).To(HavePrefix("steady-heron-"), "the ID of a pet of the stand-in")
	u.deletedTogether(stacks)
}

func TestTheExampleOutputsHandsOn(t *testing.T) {
	t.Parallel()
	u := newTenant(t, shared)
	stacks := u.triesLayers("outputs")
	key, kubeconfig, app := u.handedOn("network-outputs", "accountKey"), u.handedOn("cluster-outputs", "kubeconfig"), u.textOf(stacks[2], "name")
	u.Expect(key).To(HaveLen(16))
	u.Expect(kubeconfig).To(HaveSuffix(" at 10.0.0.0/16 with " + key))

	program := &v1.Program{ObjectMeta: metav1.ObjectMeta{Name: "network", Namespace: u.namespace}}
	edit(u, program, func(p *v1.Program) {
		account := p.Program.Resources["account"].Properties
		account.Raw = bytes.Replace(account.Raw, []byte("16"), []byte("20"), 1)
	})
	u.Eventually(func(g Gomega) {
		g.Expect(u.Get(u.ctx, keyOf(stacks[2]), stacks[2])).To(Succeed())
		g.Expect(stacks[2].Status.History).To(HaveLen(2), "the app has run once more")
	}).Should(Succeed())
	for _, stack := range stacks {
		u.awaitReady(stack)
	}
	another := u.handedOn("network-outputs", "accountKey")
	u.Expect(another).To(HaveLen(20))
	u.Expect(u.handedOn("cluster-outputs", "kubeconfig")).To(And(HaveSuffix(" at 10.0.0.0/16 with "+another), Not(Equal(kubeconfig))))
	u.Expect(u.textOf(stacks[2], "name")).NotTo(Equal(app))
	u.deletedTogether(stacks)
}

// handedOn returns what a Stack has written to a Secret.
func (t *tenant) handedOn(name, key string) string {
	t.test.Helper()
	secret := &corev1.Secret{}
	t.Expect(t.Get(t.ctx, types.NamespacedName{Namespace: t.namespace, Name: name}, secret)).To(Succeed())
	return string(secret.Data[key])
}
