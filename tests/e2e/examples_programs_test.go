// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"errors"
	"regexp"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/failure"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
	"github.com/flux-pulumi/pulumi-controller/tests/system"
)

func TestTheExampleProgramEC2Runs(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	u := newTenant(t, shared)
	stack := u.tries("program-ec2/ec2-instance.yaml", nil)["dev-ec2-instance"]
	u.awaitReady(stack)
	made := u.standIns()
	u.Expect(made).To(HaveLen(2))
	u.Expect(made["server"].Inputs).To(And(
		HaveKeyWithValue("ami", "ami-00000001"), HaveKeyWithValue("vpcSecurityGroupIds", []any{made["group"].ID})))
	u.Expect(u.textOf(stack, "publicIp")).To(Equal("203.0.113.7"))
	u.Expect(u.textOf(stack, "publicDns")).To(ContainSubstring(".us-east-1."), "the region of the Stack's config")
	u.destroyedWith(stack, "ec2-instance")
	u.Expect(u.standIns()).To(BeEmpty())
}

func TestTheExampleProgramStaticWebsiteRuns(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	u := newTenant(t, shared)
	stack := u.tries("program-static-website/staticwebsite.yaml", nil)["staticwebsite"]
	u.awaitReady(stack)
	made := u.standIns()
	u.Expect(made).To(HaveLen(5))
	bucket := made["bucket"].ID
	u.Expect(made["index.html"].Inputs).To(And(HaveKeyWithValue("bucket", bucket), HaveKeyWithValue("acl", "public-read")))
	u.Expect(u.textOf(stack, "url")).To(Equal("http://" + bucket + ".s3-website-us-east-1.amazonaws.com"))

	program := &v1.Program{ObjectMeta: metav1.ObjectMeta{Name: "staticwebsite", Namespace: u.namespace}}
	edit(u, program, func(p *v1.Program) {
		properties := p.Program.Resources["index.html"].Properties
		properties.Raw = bytes.Replace(properties.Raw, []byte("Hello, world!"), []byte("Hello again"), 1)
	})
	u.awaitReady(stack, programEdited(program))
	u.Expect(u.standIns()["index.html"].Inputs).To(HaveKeyWithValue("content", "<h1>Hello again</h1>"))
	u.Expect(u.standIns()["bucket"]).To(Equal(made["bucket"]), "the bucket is left as it is")
	u.destroyedWith(stack, "staticwebsite")
	u.Expect(u.standIns()).To(BeEmpty())
}

func TestTheExampleAlertsTell(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	u := newTenant(t, shared)
	chat := u.hook()
	u.tries("alerts/alert.yaml", u.setIn("Provider", map[string]any{"type": "generic", "address": chat.url}))
	stack := u.tries("quickstart/program.yaml", nil, func(s *v1.Stack) { s.Spec.Config["lab:directory"] = jsonText(u.place) })["greeting"]
	u.awaitReady(stack)
	event := u.awaitNotice(chat, stack, "info", "ReconciliationSucceeded", "Update succeeded: 1 created in ")
	u.isAbout(event, stack, stack.Status.LastAppliedRevision)
	u.destroyedWith(stack, "greeting")
}

func TestTheExampleMultiTenancyKeepsATeamToItsNamespace(t *testing.T) {
	t.Parallel()
	u := newTenant(t, shared)
	u.tries("multi-tenancy/tenant.yaml", nil)
	namespace := []string{"program", "resources", "settings", "properties", "metadata", "namespace"}
	stack := u.tries("multi-tenancy/team-a/stack.yaml", func(object *unstructured.Unstructured) {
		if object.GetKind() == v1.ProgramKind {
			u.Expect(unstructured.SetNestedField(object.Object, u.namespace, namespace...)).To(Succeed())
		}
	})["settings"]
	u.awaitReady(stack)
	made := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "settings", Namespace: u.namespace}}
	u.Expect(u.Get(u.ctx, keyOf(made), made)).To(Succeed())
	u.Expect(made.Data).To(Equal(map[string]string{"colour": "green"}))

	program := &v1.Program{ObjectMeta: metav1.ObjectMeta{Name: "settings", Namespace: u.namespace}}
	edit(u, program, func(p *v1.Program) { // another ConfigMap: the stand-in cannot move one to another namespace
		settings := p.Program.Resources["settings"]
		other := *settings.DeepCopy()
		other.Properties.Raw = []byte(`{"metadata": {"name": "settings", "namespace": "default"}, "data": {"colour": "red"}}`)
		p.Program.Resources["other"] = other
	})
	u.awaitFailure(stack, v1.UpdateFailedReason, "forbidden")
	edit(u, program, func(p *v1.Program) { delete(p.Program.Resources, "other") })
	u.awaitReady(stack, programEdited(program))
	u.teamWritesStacks(stack)
	u.destroyedWith(stack, "settings")
	u.awaitGone(made)
}

// teamWritesStacks expects the account of the example to write Stacks and Programs because of pulumi-edit, and to read
// them because of pulumi-view. No kube-controller-manager runs here to make that a part of edit, so it is bound instead.
func (t *tenant) teamWritesStacks(like *v1.Stack) {
	t.test.Helper()
	config, err := t.ControlPlane.AccountConfig(t.ctx, t.namespace, "team-a")
	t.Expect(err).NotTo(HaveOccurred())
	team, err := client.New(config, client.Options{Scheme: t.Scheme()})
	t.Expect(err).NotTo(HaveOccurred())
	meta := metav1.ObjectMeta{Name: "written", Namespace: t.namespace}
	program := t.program(oneThing("one"))
	program.ObjectMeta = meta
	objects := []client.Object{&v1.Stack{ObjectMeta: meta, Spec: like.Spec}, program}
	existing := []client.Object{
		&v1.Stack{ObjectMeta: metav1.ObjectMeta{Name: like.Name, Namespace: t.namespace}},
		&v1.Program{ObjectMeta: metav1.ObjectMeta{Name: like.Spec.ProgramRef.Name, Namespace: t.namespace}},
	}
	t.apply(&rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "team-a-view"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "pulumi-view"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: "team-a", Namespace: t.namespace}},
	})
	const labels = `{"metadata": {"labels": {"by": "team-a"}}}`
	written := map[string]func(i int) error{
		"create": func(i int) error {
			return team.Create(t.ctx, objects[i].DeepCopyObject().(client.Object), client.DryRunAll)
		},
		"patch": func(i int) error {
			return team.Patch(t.ctx, existing[i].DeepCopyObject().(client.Object), client.RawPatch(types.MergePatchType, []byte(labels)), client.DryRunAll)
		},
		"delete": func(i int) error { return team.Delete(t.ctx, existing[i], client.DryRunAll) },
	}
	read := func() {
		for _, object := range existing {
			t.Eventually(func() error {
				return team.Get(t.ctx, client.ObjectKeyFromObject(object), object.DeepCopyObject().(client.Object))
			}).Should(Succeed())
		}
	}
	for verb, write := range written {
		t.Expect(errors.Join(write(0), write(1))).To(Succeed(), verb)
	}
	read()
	t.delete(&rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "team-a-pulumi", Namespace: t.namespace}})
	for verb, write := range written {
		t.Eventually(func() error { return errors.Join(write(0), write(1)) }).Should(MatchError(And(
			ContainSubstring("cannot "+verb+` resource "stacks"`), ContainSubstring("cannot "+verb+` resource "programs"`))), verb)
	}
	read()
}

// TestTheExampleShardingSharesOutTheStacks runs two controllers with the flags in the README of the example.
func TestTheExampleShardingSharesOutTheStacks(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	g := NewWithT(t)
	readme := (&tenant{Assertions: failure.NewAssertions(t, t.Context()), test: t}).readmeOf("sharding")
	flags := regexp.MustCompile("--watch-label-selector=[^` ]+").FindAllString(readme, -1)
	g.Expect(flags).To(HaveLen(2))
	first := startOwn(t, "", system.Options{ControllerArgs: flags[:1]})

	u := newTenant(t, first)
	stacks := u.tries("sharding/stacks.yaml", nil)
	ofMain, ofShard := stacks["of-main"], stacks["of-shard1"]
	u.awaitReady(ofMain)
	u.Expect(u.Get(u.ctx, keyOf(ofShard), ofShard)).To(Succeed())
	u.Expect(ofShard.Finalizers).To(BeEmpty(), "it is nobody's yet")

	startOwn(t, "shard1", system.Options{ControllerArgs: flags[1:]})
	u.awaitReady(ofShard)
	u.Expect(u.reconcilesOf(ofShard)).To(BeZero(), "by the controller of the other Stack")
	u.delete(ofShard)
	u.awaitGone(ofShard)
	u.delete(ofMain)
	u.awaitGone(ofMain)
}
