// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"slices"
	"strings"
	"testing"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/rights"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
	"github.com/flux-pulumi/pulumi-controller/tests/sources"
	"github.com/flux-pulumi/pulumi-controller/tests/system"
)

// TestTheControllerHasTheRightsThatItNeedsAndNoOthers makes the controller use each of its permissions, and compares
// its requests with the roles of config/rbac. The controller of the shared world runs as the account of
// config/default, so a missing permission fails its other tests too.
func TestTheControllerHasTheRightsThatItNeedsAndNoOthers(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	u := newTenant(t, shared)
	u.liveOnARepository()
	u.liveOnAProgram()
	u.liveOnApprovals()
	u.liveOnPolicies()
	u.waitForSources()

	granted := u.granted()
	u.Eventually(func(g Gomega) {
		requests, err := u.ControlPlane.Requests(system.ControllerUser)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(rights.Forbidden(requests)).To(BeEmpty(), "what the roles lack")
		// No request needs it, but OwnerReferencesPermissionEnforcement, which is on here, requires it to create an
		// object with an owner reference that blocks deletion: see the next test.
		// The annotations of accounts are read with the gate ObjectLevelWorkloadIdentity alone, which is off here: see the
		// tests of identities in clouds.
		g.Expect(rights.Unused(granted, requests)).To(ConsistOf("get serviceaccounts", "update stacks/finalizers.pulumi.com"), "what the roles allow and nothing needs")
	}).Should(Succeed())
	for _, right := range granted {
		t.Logf("allowed and needed: %s", right)
	}
}

// TestNotificationControllerHasTheRightsThatItNeedsAndNoOthers has a webhook request a Stack and a Program. It runs with what
// config/notifications gives it, which other tests of alerts and receivers show to be enough.
func TestNotificationControllerHasTheRightsThatItNeedsAndNoOthers(t *testing.T) {
	t.Parallel()
	u := newTenant(t, shared)
	u.apply(u.program(oneThing("one")))
	stack := u.stack(fromProgram, func(s *v1.Stack) { s.Spec.Suspend = true })
	u.apply(stack)
	u.post(u.receiver("[{apiVersion: pulumi.com/v1, kind: Stack, name: app}, {apiVersion: pulumi.com/v1, kind: Program, name: app}]"))

	var role rbacv1.ClusterRole
	u.Expect(u.Get(u.ctx, client.ObjectKey{Name: "pulumi-controller-notifications"}, &role)).To(Succeed())
	granted := rights.Of(role.Rules, "")
	u.Expect(granted).NotTo(BeEmpty())
	u.Eventually(func(g Gomega) {
		requests, err := u.ControlPlane.Requests(system.NotificationUser)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(rights.Forbidden(requests)).To(BeEmpty(), "what the roles lack")
		// The cache lists where the API server is too old to begin a watch with what there is.
		g.Expect(rights.Unused(granted, requests)).To(ConsistOf("list stacks.pulumi.com", "list programs.pulumi.com"), "what the role allows and nothing needs")
	}).Should(Succeed())
}

// TestWhoMakesWhatAStackOwnsNeedsARightOnItsFinalizers is about the one permission that no request of the controller
// shows: in a foreground deletion, the Secret with outputs blocks the deletion of its Stack until it is deleted
// itself.
func TestWhoMakesWhatAStackOwnsNeedsARightOnItsFinalizers(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	u := newTenant(t, shared)
	stack := u.stack(func(s *v1.Stack) { s.Spec.Suspend = true }, fromProgram)
	u.apply(stack)
	u.apply(account("maker"))
	u.mayWrite("maker", "", "secrets")
	config, err := u.ControlPlane.AccountConfig(u.ctx, u.namespace, "maker")
	u.Expect(err).NotTo(HaveOccurred())
	maker, err := client.New(config, client.Options{Scheme: u.Scheme()})
	u.Expect(err).NotTo(HaveOccurred())
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "outputs", Namespace: u.namespace}}
	u.Expect(controllerutil.SetControllerReference(stack, secret, u.Scheme())).To(Succeed())
	make := func() error { return maker.Create(u.ctx, secret.DeepCopy(), client.DryRunAll) }
	u.Eventually(make).Should(MatchError(ContainSubstring("cannot set blockOwnerDeletion")))

	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: "finalizers"}, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{v1.GroupVersion.Group}, Resources: []string{"stacks/finalizers"}, Verbs: []string{"update"}},
	}}
	u.apply(role)
	u.apply(&rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: role.Name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: "maker", Namespace: u.namespace}},
	})
	u.Eventually(make).Should(Succeed())
}

// liveOnARepository takes a Stack on a private git repository through creation, an update and deletion, with a
// service account, outputs in a Secret, resources in a ConfigMap and a program with dependencies.
func (t *tenant) liveOnARepository() {
	t.test.Helper()
	repo, first := t.repository(project("lab", oneThing("one")))
	guarded := t.guarded("")
	secret := t.gitSecret("accessToken")
	t.apply(account("deployer"))
	stack := t.stack(destroyed, handsOn("outputs"), onBranch(guarded.URLOf(repo), &v1.GitAuth{PersonalAccessToken: refTo("git", "accessToken")}),
		func(s *v1.Stack) { s.Spec.ServiceAccountName = "deployer" })
	t.apply(stack)
	t.awaitReady(stack, atRevision(revisionOf(first)))
	t.outputs("outputs", map[string]string{"value": "one"})

	guarded.SetPassword("another-password")
	second := t.commitTo(repo, project("lab", oneThing("two")))
	edit(t, secret, func(s *corev1.Secret) { s.Data["accessToken"] = []byte("another-password") })
	t.awaitReady(stack, atRevision(revisionOf(second)))
	t.outputs("outputs", map[string]string{"value": "two"})
	// Its dependencies would be kept for the UID of the namespace. Nothing here can install them.
	t.commitTo(repo, sources.Files{"Pulumi.yaml": "name: lab\nruntime: nodejs\n"})
	request(t, stack)
	t.awaitFailure(stack, v1.UpdateFailedReason, "installing the dependencies of the program")
	other := t.commitTo(repo, project("lab", twoThings("x", "z"))) // another list of resources, which is written to its ConfigMap
	request(t, stack)
	t.awaitReady(stack, atRevision(revisionOf(other)))
	t.delete(stack)
	t.awaitGone(stack)
	t.awaitGone(t.keptRepository())
	t.Expect(t.things()).To(BeEmpty())
}

// liveOnPolicies has a Stack that a PolicySet selects by its namespace, with a pack that does not exist.
func (t *tenant) liveOnPolicies() {
	t.test.Helper()
	set := &v1.PolicySet{ObjectMeta: metav1.ObjectMeta{Name: t.namespace}, Spec: v1.PolicySetSpec{
		NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: t.namespace}},
		Packs:             []v1.PolicyPack{{Name: "tags", SourceRef: v1.PolicySourceReference{Kind: "GitRepository", Name: "policies", Namespace: t.namespace}}},
	}}
	t.Expect(t.Create(t.ctx, set)).To(Succeed())
	t.test.Cleanup(func() { t.Expect(t.Delete(context.Background(), set)).To(Succeed()) })
	program, stack := t.programNamed("guarded", oneThing("one"), func(s *v1.Stack) { s.Spec.DestroyOnFinalize = false })
	t.apply(program)
	t.apply(stack)
	t.awaitFailure(stack, v1.PolicyPackFailedReason, "pack tags of PolicySet "+t.namespace)
	t.delete(stack)
	t.awaitGone(stack)
}

// liveOnApprovals has a Stack replace what it proposes, whose details are deleted.
func (t *tenant) liveOnApprovals() {
	t.test.Helper()
	program, stack := t.programNamed("approved", oneThing("one"), func(s *v1.Stack) {
		s.Spec.Approval, s.Spec.DestroyOnFinalize = &v1.Approval{Require: v1.ApprovalAlways}, false
	})
	t.apply(program)
	t.apply(stack)
	first := t.awaitProposal(stack, "")
	edit(t, program, func(p *v1.Program) { t.setProgram(p, oneThing("two")) })
	t.awaitProposal(stack, first.Digest)
	t.delete(stack)
	t.awaitGone(stack)
}

// liveOnAProgram creates a Stack with a Program and config in a ConfigMap, and makes it fail twice in the same way.
func (t *tenant) liveOnAProgram() {
	t.test.Helper()
	t.apply(t.program(configured))
	stack := t.stack(fromProgram, destroyed, func(s *v1.Stack) {
		s.Spec.ConfigRef = map[string]v1.ConfigMapRef{"app:size": {Name: "settings", Key: "size", JSON: true}, "zone": {Name: "settings", Key: "zone"}}
	})
	t.apply(stack)
	for range 2 {
		t.awaitFailure(stack, v1.InputsFailedReason, "ConfigMap '"+t.namespace+"/settings' not found")
		settings := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "settings"}, Data: map[string]string{"size": "3", "zone": "a"}}
		t.apply(settings)
		t.awaitReady(stack)
		t.delete(settings)
	}
	t.awaitFailure(stack, v1.InputsFailedReason, "ConfigMap '"+t.namespace+"/settings' not found")
	t.delete(stack)
	t.awaitGone(stack)
}

// waitForSources makes a Stack look for a source of each kind.
func (t *tenant) waitForSources() {
	t.test.Helper()
	for _, kind := range []string{sourcev1.GitRepositoryKind, sourcev1.OCIRepositoryKind, sourcev1.BucketKind, sourcev1.ExternalArtifactKind} {
		stack := t.stack(named(strings.ToLower(kind)), from(kind, ""))
		t.apply(stack)
		t.awaitMissing(stack, "source '"+kind+"/"+t.namespace+"/app' not found")
	}
}

// granted lists what the controller's roles allow, such as "get pods in flux-system".
func (t *tenant) granted() []string {
	t.test.Helper()
	var everywhere rbacv1.ClusterRole
	t.Expect(t.Get(t.ctx, client.ObjectKey{Name: system.Account}, &everywhere)).To(Succeed())
	granted := rights.Of(everywhere.Rules, "")
	var here rbacv1.RoleList
	t.Expect(t.List(t.ctx, &here, client.InNamespace(t.RuntimeNamespace()))).To(Succeed())
	for _, role := range here.Items {
		granted = append(granted, rights.Of(role.Rules, t.RuntimeNamespace())...)
	}
	slices.Sort(granted)
	return granted
}
