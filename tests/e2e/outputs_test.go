// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"os"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
	"github.com/flux-pulumi/pulumi-controller/tests/sources"
)

// handsOn makes the Stack write its outputs to a Secret, all or those with the keys.
func handsOn(name string, keys ...string) func(*v1.Stack) {
	return func(s *v1.Stack) { s.Spec.WriteOutputsToSecret = &v1.OutputsSecret{Name: name, Keys: keys} }
}

// takes makes the Stack read secret config from the Secret, each key under its own name.
func takes(name string, keys ...string) func(*v1.Stack) {
	return func(s *v1.Stack) {
		s.Spec.SecretsRef = map[string]v1.ResourceRef{}
		for _, key := range keys {
			s.Spec.SecretsRef[key] = secretKey(name, key)
		}
	}
}

// programNamed returns a Program, and the Stack of the same name that runs it.
func (t *tenant) programNamed(name, body string, changes ...func(*v1.Stack)) (*v1.Program, *v1.Stack) {
	t.test.Helper()
	program := &v1.Program{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: t.namespace}}
	t.setProgram(program, body)
	run := func(s *v1.Stack) { s.Spec.ProgramRef = &v1.ProgramReference{Name: name} }
	return program, t.stack(append([]func(*v1.Stack){named(name), run, destroyed, retriedEvery(time.Hour)}, changes...)...)
}

func network(token string) string {
	return `
resources:
  network:
    type: lab:index:Thing
    properties: {name: network, value: ` + token + `}
outputs:
  cidr: 10.0.0.0/16
  zones: [a, b]
  token: {"fn::secret": "${network.value}"}
`
}

const cluster = `
config:
  cidr: {type: string}
  token: {type: string, secret: true}
resources:
  cluster:
    type: lab:index:Thing
    properties: {name: cluster, value: "${cidr} ${token}"}
outputs:
  kubeconfig: {"fn::secret": {server: "${cluster.value}"}}
`

const appOnCluster = `
config:
  kubeconfig: {type: string, secret: true}
resources:
  app:
    type: lab:index:Thing
    properties: {name: app, value: {"fn::toJSON": "${kubeconfig}"}}
`

// outputs waits until the Secret has these values and no others.
func (t *tenant) outputs(name string, values map[string]string) *corev1.Secret {
	t.test.Helper()
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: t.namespace}}
	t.Eventually(func(g Gomega) {
		g.Expect(t.Get(t.ctx, keyOf(secret), secret)).To(Succeed())
		texts := map[string]string{}
		for key, value := range secret.Data {
			texts[key] = string(value)
		}
		g.Expect(texts).To(Equal(values))
	}).Should(Succeed())
	return secret
}

// operations lists the operations that Pulumi was called for.
func (t *tenant) operations() []string {
	t.test.Helper()
	var operations []string
	for _, call := range t.pulumiCalls() {
		for _, operation := range []string{" up ", " stack output ", " destroy "} {
			if strings.Contains(" "+call+" ", operation) {
				operations = append(operations, strings.TrimSpace(operation))
			}
		}
	}
	return operations
}

func TestOutputsAreHandedOnThroughThreeLayers(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	u := newTenant(t, shared)
	low, a := u.programNamed("network", network("canary-one-4711"), handsOn("network-outputs"))
	mid, b := u.programNamed("cluster", cluster, takes("network-outputs", "cidr", "token"), dependsOn("network"), handsOn("cluster-outputs", "kubeconfig"))
	high, c := u.programNamed("app", appOnCluster, takes("cluster-outputs", "kubeconfig"), dependsOn("cluster"))
	for _, object := range []*v1.Stack{c, b, a} {
		u.apply(object)
	}
	for _, object := range []*v1.Program{high, mid, low} {
		u.apply(object)
	}
	for _, stack := range []*v1.Stack{a, b, c} {
		u.awaitReady(stack)
	}
	u.Expect(u.things()).To(Equal(map[string]string{
		"network": "canary-one-4711", "cluster": "10.0.0.0/16 canary-one-4711", "app": `{"server":"10.0.0.0/16 canary-one-4711"}`,
	}))
	u.Expect(u.journal(u)).To(Equal(inOrder("create", "network", "cluster", "app")))
	u.outputs("network-outputs", map[string]string{"cidr": "10.0.0.0/16", "zones": `["a","b"]`, "token": "canary-one-4711"})
	u.Expect(u.operations()).To(Equal([]string{"up", "stack output", "up", "stack output", "up"}))

	edit(u, low, func(p *v1.Program) { u.setProgram(p, network("canary-two-4712")) })
	u.Eventually(u.things).Should(HaveKeyWithValue("app", `{"server":"10.0.0.0/16 canary-two-4712"}`))
	for _, stack := range []*v1.Stack{a, b, c} {
		u.awaitReady(stack)
	}
	u.Expect(u.journal(u)[6:]).To(Equal(inOrder("update", "network", "cluster", "app")), "each once, and in order")
	u.Expect(u.operations()[5:]).To(Equal([]string{"up", "stack output", "up", "stack output", "up"}))

	for _, stack := range []*v1.Stack{a, b, c} {
		u.delete(stack)
	}
	for _, stack := range []*v1.Stack{c, b, a} {
		u.awaitGone(stack)
	}
	u.Expect(u.journal(u)[12:]).To(Equal(inOrder("delete", "app", "cluster", "network")))
	u.Expect(u.things()).To(BeEmpty())
	for _, name := range []string{"network-outputs", "cluster-outputs"} { // there is no garbage collector
		u.awaitGone(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: u.namespace}})
	}
}

func TestTheSecretWithTheOutputsIsKeptAsItShouldBe(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	u := newTenant(t, shared)
	program, stack := u.programNamed("network", network("canary-heal-4713"), handsOn("out"))
	u.apply(program)
	u.apply(stack)
	u.awaitReady(stack)
	all := map[string]string{"cidr": "10.0.0.0/16", "zones": `["a","b"]`, "token": "canary-heal-4713"}
	secret := u.outputs("out", all)
	u.Expect(metav1.IsControlledBy(secret, stack)).To(BeTrue(), "it goes with the Stack")
	u.Expect(u.operations()).To(Equal([]string{"up", "stack output"}))
	last := stack.Status.LastUpdate.Name

	u.delete(secret)
	u.outputs("out", all)
	edit(u, secret, func(s *corev1.Secret) { s.Data = map[string][]byte{"token": []byte("x")} })
	u.outputs("out", all)
	edit(u, stack, func(s *v1.Stack) {
		s.Spec.WriteOutputsToSecret.Keys, s.Spec.WriteOutputsToSecret.Labels = []string{"token"}, map[string]string{"layer": "one"}
	})
	secret = u.outputs("out", map[string]string{"token": "canary-heal-4713"})
	u.Expect(secret.Labels).To(Equal(map[string]string{"layer": "one"}))
	u.awaitReady(stack)
	u.Expect(u.operations()).To(Equal([]string{"up", "stack output", "stack output", "stack output", "stack output"}))
	u.Expect(stack.Status.LastUpdate.Name).To(Equal(last), "no update was made for it")
	u.Expect(u.journal(u)).To(Equal(inOrder("create", "network")))
	log, err := os.ReadFile(u.ControllerLog())
	u.Expect(err).NotTo(HaveOccurred())
	for where, text := range map[string]string{
		"the log": string(log), "an event": u.asText(&corev1.EventList{}), "a Stack": u.asText(&v1.StackList{}), "a command line": strings.Join(u.pulumiCalls(), "\n"),
	} {
		u.Expect(strings.Contains(text, "canary-heal-4713")).To(BeFalse(), "the value is in %s", where)
	}
	u.Expect(filesWith(u.DataDir(), "canary-heal-4713")).To(BeEmpty())
}

func TestASecretThatTheStackDoesNotOwnIsNotOverwrittenWithOutputs(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	u := newTenant(t, shared)
	theirs := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "out"}, Data: map[string][]byte{"a": []byte("b")}}
	u.apply(theirs)
	program, stack := u.programNamed("network", network("canary-4714"), handsOn("out"))
	u.apply(program)
	u.apply(stack)
	u.awaitFailure(stack, v1.OutputsFailedReason, "Secret "+u.namespace+"/out does not belong to this Stack. Delete it")
	u.outputs("out", map[string]string{"a": "b"})
	u.Expect(u.operations()).To(Equal([]string{"up"}))

	u.delete(theirs)
	u.awaitReady(stack)
	u.Expect(u.operations()).To(Equal([]string{"up", "stack output"}), "the update is not made again")
	edit(u, stack, func(s *v1.Stack) { s.Spec.WriteOutputsToSecret = nil })
	u.awaitGone(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "out", Namespace: u.namespace}})
}

// https://github.com/pulumi/pulumi-kubernetes-operator/issues/1160
func TestAReadyStackShowsItsOutputsHoweverBigOthersAre(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	u := newTenant(t, shared)
	files := func(ok string, megabytes int) sources.Files {
		return both(sources.Files{"mid.txt": strings.Repeat("y", 3<<20), "big.txt": strings.Repeat("x", megabytes<<20)}, project("lab", `resources:
  mid: {type: lab:index:Thing, properties: {name: mid, value: {"fn::readFile": ./mid.txt}}}
outputs:
  ok: `+ok+`
  manifests: {"fn::readFile": ./big.txt}
  token: {"fn::secret": canary-04-t0ken}
`))
	}
	source := u.git(files("first", 9))
	stack := u.stack(fromGit)
	u.apply(stack)
	shows := func(ok string, changes v1.ResourceChanges, revision string) {
		t.Helper()
		u.awaitReady(stack, atRevision(revision))
		u.Expect(stack.Status.Outputs).To(And(HaveLen(3), HaveKeyWithValue("ok", jsonText(ok)), HaveKeyWithValue("token", jsonText("[secret]"))))
		u.Expect(string(stack.Status.Outputs["manifests"].Raw)).To(HavePrefix(`"[too big to show: `))
		u.Expect(*stack.Status.Resources).To(Equal(v1.ResourcesStatus{Total: 1, ResourceChanges: changes}))
		u.Eventually(func(g Gomega) { g.Expect(u.listed(g, stack)).To(ConsistOf(HaveSuffix("::mid"))) }).Should(Succeed())
		u.Expect(stack.Status.Inventory.Message).To(BeEmpty())
	}
	shows("first", v1.ResourceChanges{Created: 1}, u.awaitArtifact(source.object, ""))
	shows("second", v1.ResourceChanges{Same: 1}, source.commit(files("second", 9)))
	shows("second", v1.ResourceChanges{Same: 1}, source.commit(files("second", 5)))
}
