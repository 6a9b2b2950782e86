// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package manifests

import (
	"cmp"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/flux-pulumi/pulumi-controller/tests/process"
)

// The users of the tests of config/approvals.
const (
	approver   = "alice"
	editor     = "bob"
	both       = "carol"
	controller = "system:serviceaccount:flux-system:pulumi-controller"
	flux       = "system:serviceaccount:flux-system:kustomize-controller"
)

// Digests of plans.
var (
	digestA = "sha256:" + strings.Repeat("a", 64)
	digestB = "sha256:" + strings.Repeat("b", 64)
)

// edit is a change of a Stack by a user, as a merge patch in YAML.
type edit struct{ user, patch string }

func approve(digest, by string) string {
	return "{metadata: {annotations: {pulumi.com/approve: '" + digest + "', pulumi.com/approved-by: '" + by + "'}}}"
}

func reject(digest, by, reason string) string {
	return "{metadata: {annotations: {pulumi.com/reject: '" + digest + "', pulumi.com/approved-by: '" + by + "', pulumi.com/reject-reason: '" + reason + "'}}}"
}

// testApprovals tries the policies of config/approvals with several users.
func testApprovals(t *testing.T, server *api) {
	server.enforce(t, "config/approvals", edit{flux, approve(digestA, approver)})
	namespace := server.approvalNamespace(t)
	const (
		notAllowed = "may not approve or reject changes of Stacks in namespace "
		notTheName = "the annotation pulumi.com/approved-by must be "
		notInSpec  = "may not set spec.approval.approved of Stacks in namespace "
		notLower   = "may not lower spec.approval.require from "
		notPreview = "may not add to spec.approval.previewNamespaces of Stacks in namespace "
		notPropose = "may not change spec.drift.mode from Propose"
		notElse    = "and change nothing else of it"
	)
	approvedInSpec := "{spec: {approval: {approved: '" + digestA + "'}}}"
	allowsPreviews := edit{flux, "{spec: {approval: {previewNamespaces: [previews]}}}"}
	proposesDrift := []edit{{editor, "{spec: {drift: {interval: 1h, mode: Propose}}}"}}
	for name, test := range map[string]struct {
		before  []edit
		edit    edit
		refusal string
	}{
		"an approver approves":                  {edit: edit{approver, approve(digestA, approver)}},
		"an approver approves again":            {before: []edit{{approver, approve(digestA, approver)}}, edit: edit{approver, approve(digestB, approver)}},
		"an approver approves after another":    {before: []edit{{approver, approve(digestA, approver)}}, edit: edit{both, approve(digestB, both)}},
		"an approver rejects":                   {edit: edit{approver, reject(digestA, approver, "not on a Friday")}},
		"an approver who may edit approves":     {edit: edit{both, approve(digestA, both)}},
		"an editor does not approve":            {edit: edit{editor, approve(digestA, editor)}, refusal: editor + " " + notAllowed},
		"an editor does not reject":             {edit: edit{editor, reject(digestA, editor, "")}, refusal: editor + " " + notAllowed},
		"an editor does not approve as another": {edit: edit{editor, approve(digestA, approver)}, refusal: editor + " " + notAllowed},
		"an approver does not approve as another": {edit: edit{approver, approve(digestA, both)},
			refusal: notTheName + approver},
		"an approver does not approve as nobody": {edit: edit{approver, "{metadata: {annotations: {pulumi.com/approve: '" + digestA + "'}}}"},
			refusal: notTheName + approver},
		"an approver does not reject as another": {edit: edit{approver, reject(digestA, both, "")}, refusal: notTheName + approver},
		"nobody takes an approval of another over": {before: []edit{{approver, approve(digestA, approver)}},
			edit: edit{both, "{metadata: {annotations: {pulumi.com/approve: '" + digestB + "'}}}"}, refusal: notTheName + both},
		"nobody renames the approver": {before: []edit{{approver, approve(digestA, approver)}},
			edit: edit{editor, "{metadata: {annotations: {pulumi.com/approved-by: bob}}}"}, refusal: editor + " " + notAllowed},
		"nobody hides the approver": {before: []edit{{approver, approve(digestA, approver)}},
			edit: edit{editor, "{metadata: {annotations: {pulumi.com/approved-by: }}}"}, refusal: editor + " " + notAllowed},
		"nobody changes the reason of a rejection": {before: []edit{{approver, reject(digestA, approver, "not on a Friday")}},
			edit: edit{editor, "{metadata: {annotations: {pulumi.com/reject-reason: never}}}"}, refusal: editor + " " + notAllowed},
		"the controller does not approve": {edit: edit{controller, approve(digestA, controller)}, refusal: controller + " " + notAllowed},
		"the controller removes an approval": {before: []edit{{approver, approve(digestA, approver)}},
			edit: edit{controller, "{metadata: {annotations: {pulumi.com/approve: , pulumi.com/approved-by: }}}"}},
		"the controller removes a rejection": {before: []edit{{approver, reject(digestA, approver, "not on a Friday")}},
			edit: edit{controller, "{metadata: {annotations: {pulumi.com/reject: , pulumi.com/reject-reason: , pulumi.com/approved-by: }}}"}},
		"an editor withdraws an approval by annotation": {before: []edit{{approver, approve(digestA, approver)}},
			edit: edit{editor, "{metadata: {annotations: {pulumi.com/approve: , pulumi.com/approved-by: }}}"}},
		"an editor does not withdraw a rejection": {before: []edit{{approver, reject(digestA, approver, "not on a Friday")}},
			edit: edit{editor, "{metadata: {annotations: {pulumi.com/reject: , pulumi.com/reject-reason: , pulumi.com/approved-by: }}}"}, refusal: editor + " " + notAllowed},
		"an approver withdraws a rejection": {before: []edit{{approver, reject(digestA, approver, "not on a Friday")}},
			edit: edit{both, "{metadata: {annotations: {pulumi.com/reject: , pulumi.com/reject-reason: , pulumi.com/approved-by: }}}"}},
		"the controller adds its finalizer beside an approval": {before: []edit{{approver, approve(digestA, approver)}},
			edit: edit{controller, "{metadata: {finalizers: [finalizer.stack.pulumi.com]}}"}},
		"an editor edits beside an approval": {before: []edit{{approver, approve(digestA, approver)}}, edit: edit{editor, "{spec: {interval: 1h}}"}},

		"an approver approves in the spec":            {edit: edit{approver, approvedInSpec}},
		"a commit approves in the spec":               {edit: edit{flux, approvedInSpec}},
		"an editor does not approve in the spec":      {edit: edit{editor, approvedInSpec}, refusal: editor + " " + notInSpec},
		"an editor withdraws an approval":             {before: []edit{{flux, approvedInSpec}}, edit: edit{editor, "{spec: {approval: {approved: }}}"}},
		"an editor edits beside a commit":             {before: []edit{{flux, approvedInSpec}}, edit: edit{editor, "{spec: {interval: 1h}}"}},
		"a commit allows previews":                    {edit: allowsPreviews},
		"an editor does not allow previews":           {edit: edit{editor, allowsPreviews.patch}, refusal: editor + " " + notPreview},
		"an editor does not allow others":             {before: []edit{allowsPreviews}, edit: edit{editor, "{spec: {approval: {previewNamespaces: [others, previews]}}}"}, refusal: editor + " " + notPreview},
		"an editor withdraws that":                    {before: []edit{allowsPreviews}, edit: edit{editor, "{spec: {approval: {previewNamespaces: }}}"}},
		"an editor edits beside what allows previews": {before: []edit{allowsPreviews}, edit: edit{editor, "{spec: {interval: 1h}}"}},
		"an editor asks for more approvals":           {edit: edit{editor, "{spec: {approval: {require: Always}}}"}},
		"an editor does not ask for fewer":            {edit: edit{editor, "{spec: {approval: {require: Never}}}"}, refusal: editor + " " + notLower + "Destructive"},
		"an editor does not remove the approval":      {edit: edit{editor, "{spec: {approval: }}"}, refusal: editor + " " + notLower + "Destructive"},
		"a commit asks for fewer":                     {edit: edit{flux, "{spec: {approval: {require: Never}}}"}},
		"an editor does not have drift corrected that is proposed": {before: proposesDrift,
			edit: edit{editor, "{spec: {drift: {mode: Correct}}}"}, refusal: editor + " " + notPropose},
		"nor only reported, and then corrected":  {before: proposesDrift, edit: edit{editor, "{spec: {drift: {mode: Report}}}"}, refusal: editor + " " + notPropose},
		"nor not checked, and then corrected":    {before: proposesDrift, edit: edit{editor, "{spec: {drift: }}"}, refusal: editor + " " + notPropose},
		"an editor has drift checked more often": {before: proposesDrift, edit: edit{editor, "{spec: {drift: {interval: 5m}}}"}},
		"an editor has drift corrected that nobody proposes": {before: []edit{{editor, "{spec: {drift: {interval: 1h}}}"}},
			edit: edit{editor, "{spec: {drift: {mode: Correct}}}"}},
		"an approver who may edit has it corrected": {before: proposesDrift, edit: edit{both, "{spec: {drift: {mode: Correct}}}"}},
		"a commit has it corrected":                 {before: proposesDrift, edit: edit{flux, "{spec: {drift: {mode: Correct}}}"}},
		"an editor has it corrected with approvals of everything": {before: proposesDrift,
			edit: edit{editor, "{spec: {approval: {require: Always}, drift: {mode: Correct}}}"}},
		"an approver edits nothing else":           {edit: edit{approver, "{spec: {interval: 1h}}"}, refusal: approver + " may approve"},
		"an approver suspends nothing":             {edit: edit{approver, "{spec: {suspend: true}}"}, refusal: notElse},
		"an approver asks for no fewer approvals":  {edit: edit{approver, "{spec: {approval: {require: Never}}}"}, refusal: notElse},
		"an approver removes no finalizer":         {before: []edit{{controller, "{metadata: {finalizers: [finalizer.stack.pulumi.com]}}"}}, edit: edit{approver, "{metadata: {finalizers: }}"}, refusal: notElse},
		"an approver runs no program of their own": {edit: edit{approver, "{metadata: {annotations: {pulumi.com/preview-program: a@sha256:b}}}"}, refusal: notElse},
		"an approver does not approve and edit": {edit: edit{approver, "{metadata: {annotations: {pulumi.com/approve: '" + digestA + "', pulumi.com/approved-by: alice}}, spec: {destroyOnFinalize: true}}"},
			refusal: notElse},
	} {
		t.Run(name, func(t *testing.T) {
			on := server.proposed(t, namespace, "v1")
			for _, before := range test.before {
				NewWithT(t).Expect(server.edit(t, on, before)).To(Succeed())
			}
			expectRefusal(t, server.edit(t, on, test.edit), test.refusal)
		})
	}
	t.Run("the first version of the API is no way around it", func(t *testing.T) {
		on := server.proposed(t, namespace, "v1alpha1")
		expectRefusal(t, server.edit(t, on, edit{editor, approve(digestA, editor)}), notAllowed)
		expectRefusal(t, server.edit(t, on, edit{editor, "{spec: {approval: {require: Never}}}"}), notLower)
	})
	t.Run("nor is a new Stack", func(t *testing.T) {
		on := server.proposed(t, namespace, "v1")
		created := stack(t, "{stack: dev, programRef: {name: p}}")
		created.SetNamespace(on.GetNamespace())
		created.SetAnnotations(map[string]string{"pulumi.com/approve": digestA, "pulumi.com/approved-by": editor})
		expectRefusal(t, server.as(t, editor).Create(t.Context(), created), notAllowed)
		created = stack(t, "{stack: dev, programRef: {name: p}, approval: {require: Always, approved: '"+digestA+"'}}")
		created.SetNamespace(on.GetNamespace())
		expectRefusal(t, server.as(t, editor).Create(t.Context(), created), notInSpec)
	})
	t.Run("a Stack without approvals", func(t *testing.T) {
		on := server.proposed(t, namespace, "v1")
		created := stack(t, "{stack: dev, programRef: {name: p}}")
		created.SetNamespace(on.GetNamespace())
		NewWithT(t).Expect(server.as(t, editor).Create(t.Context(), created)).To(Succeed())
		NewWithT(t).Expect(server.edit(t, created, edit{editor, "{metadata: {labels: {a: b}}, spec: {interval: 1h}}"})).To(Succeed())
	})
	t.Run("a namespace that requires approvals", func(t *testing.T) { testRequiredApprovals(t, server) })
	t.Run("separation of duties", func(t *testing.T) { testSeparation(t, server) })
}

// testRequiredApprovals labels the namespace.
func testRequiredApprovals(t *testing.T, server *api) {
	g := NewWithT(t)
	namespace := server.approvalNamespace(t)
	on := server.proposed(t, namespace, "v1")
	labelled := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}
	patch := client.RawPatch(types.MergePatchType, []byte(`{"metadata": {"labels": {"pulumi.com/require-approval": "Always"}}}`))
	g.Expect(server.strict.Patch(t.Context(), labelled, patch)).To(Succeed())
	const refusal = "spec.approval.require must be at least Always in namespace "
	create := func(spec string) error {
		created := stack(t, spec)
		created.SetNamespace(on.GetNamespace())
		return server.as(t, editor).Create(t.Context(), created)
	}
	g.Eventually(func() error { return create("{stack: dev, programRef: {name: p}}") }, time.Minute).Should(MatchError(ContainSubstring(refusal)))
	expectRefusal(t, create("{stack: dev, programRef: {name: p}, approval: {require: Destructive}}"), refusal)
	expectRefusal(t, create("{stack: dev, programRef: {name: p}, approval: {require: Always}}"), "")
	expectRefusal(t, server.edit(t, on, edit{flux, "{spec: {approval: {require: Never}}}"}), refusal)
	expectRefusal(t, server.edit(t, on, edit{editor, "{spec: {interval: 1h}}"}), "")
	expectRefusal(t, server.edit(t, on, edit{editor, "{spec: {approval: {require: Always}}}"}), "")
}

// testSeparation adds the policy for separation of duties.
func testSeparation(t *testing.T, server *api) {
	namespace := server.approvalNamespace(t)
	server.enforce(t, "config/approvals/separation", edit{flux, approve(digestA, flux)})
	const refusal = "and so may not approve their changes"
	approvedInSpec := "{spec: {approval: {approved: '" + digestA + "'}}}"
	for name, test := range map[string]struct {
		edit    edit
		refusal string
	}{
		"an approver approves":                             {edit{approver, approve(digestA, approver)}, ""},
		"an approver approves in the spec":                 {edit{approver, approvedInSpec}, ""},
		"who may edit as well does not":                    {edit{both, approve(digestA, both)}, both + " may edit Stacks or Programs in namespace "},
		"who may edit as well does not approve in a spec":  {edit{both, approvedInSpec}, refusal},
		"who may edit as well rejects":                     {edit{both, reject(digestA, both, "")}, ""},
		"who may edit as well edits":                       {edit{both, "{spec: {interval: 1h}}"}, ""},
		"a commit approves":                                {edit{flux, approvedInSpec}, ""},
		"a service account that may edit does not approve": {edit{flux, approve(digestA, flux)}, refusal},
	} {
		t.Run(name, func(t *testing.T) {
			expectRefusal(t, server.edit(t, server.proposed(t, namespace, "v1"), test.edit), test.refusal)
		})
	}
	for user, may := range map[string]struct{ verb, resource, name, refusal string }{
		"dave":  {"update", "stacks", "", refusal}, // this one
		"erin":  {"patch", "programs", "p", refusal},
		"frank": {"update", "programs", "another", ""},
	} {
		t.Run(user+" may "+may.verb+" one of "+may.resource, func(t *testing.T) {
			on := server.proposed(t, namespace, "v1")
			server.allowApproverAlso(t, namespace, user, rbacv1.PolicyRule{APIGroups: []string{"pulumi.com"}, Resources: []string{may.resource},
				Verbs: []string{may.verb}, ResourceNames: []string{cmp.Or(may.name, on.GetName())}})
			expectRefusal(t, server.edit(t, on, edit{user, approve(digestA, user)}), may.refusal)
		})
	}
}

// allowApproverAlso makes the user an approver who has another permission, and returns when both count.
func (a *api) allowApproverAlso(t *testing.T, namespace, user string, rule rbacv1.PolicyRule) {
	t.Helper()
	g := NewWithT(t)
	meta := metav1.ObjectMeta{Namespace: namespace, Name: "also-" + user}
	g.Expect(a.strict.Create(t.Context(), &rbacv1.Role{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{rule}})).To(Succeed())
	for kind, role := range map[string]string{"Role": meta.Name, "ClusterRole": "pulumi-approve"} {
		g.Expect(a.strict.Create(t.Context(), &rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, GenerateName: user + "-"},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: kind, Name: role},
			Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
		})).To(Succeed())
	}
	mayPatch := authorizationv1.ResourceAttributes{Namespace: namespace, Group: "pulumi.com", Resource: "stacks", Verb: "patch"}
	also := authorizationv1.ResourceAttributes{Namespace: namespace, Group: "pulumi.com", Resource: rule.Resources[0], Verb: rule.Verbs[0], Name: rule.ResourceNames[0]}
	g.Eventually(func(g Gomega) {
		for _, attributes := range []authorizationv1.ResourceAttributes{mayPatch, also} {
			review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{User: user, ResourceAttributes: &attributes}}
			g.Expect(a.strict.Create(t.Context(), review)).To(Succeed())
			g.Expect(review.Status.Allowed).To(BeTrue(), user)
		}
	}, time.Minute).Should(Succeed())
}

// enforce installs a directory with a policy, and returns when the API server enforces it: it refuses the probe.
func (a *api) enforce(t *testing.T, dir string, probe edit) {
	t.Helper()
	g := NewWithT(t)
	root, err := process.RepoRoot()
	g.Expect(err).NotTo(HaveOccurred())
	home := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "flux-system"}}
	g.Expect(client.IgnoreAlreadyExists(a.strict.Create(t.Context(), home))).To(Succeed())
	for _, from := range []string{"config/rbac", dir} {
		unit, err := Build(t.Context(), root, t.TempDir(), from)
		g.Expect(err).NotTo(HaveOccurred())
		objects, err := unit.Objects()
		g.Expect(err).NotTo(HaveOccurred())
		for _, object := range objects {
			a.install(t, object)
		}
	}
	on := a.proposed(t, a.namespace(t), "v1")
	g.Eventually(func() error { return a.edit(t, on, probe, client.DryRunAll) }, time.Minute).Should(MatchError(ContainSubstring("ValidatingAdmissionPolicy")))
}

// approvalNamespace creates a namespace with an approver, an editor, and one who is both.
func (a *api) approvalNamespace(t *testing.T) string {
	t.Helper()
	g := NewWithT(t)
	namespace := a.namespace(t)
	for role, users := range map[string][]string{"pulumi-approve": {approver, both}, "pulumi-edit": {editor, both}} {
		binding := &rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: role},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
		}
		for _, user := range users {
			binding.Subjects = append(binding.Subjects, rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: groupOf(user)})
		}
		g.Expect(a.strict.Create(t.Context(), binding)).To(Succeed())
		g.Eventually(func(g Gomega) {
			for _, user := range users {
				review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
					User: user, Groups: []string{groupOf(user)},
					ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: namespace, Group: "pulumi.com", Resource: "stacks", Verb: "patch"},
				}}
				g.Expect(a.strict.Create(t.Context(), review)).To(Succeed())
				g.Expect(review.Status.Allowed).To(BeTrue(), user)
			}
		}, time.Minute).Should(Succeed())
	}
	return namespace
}

func groupOf(user string) string { return "group-of-" + user }

// proposed creates a Stack that needs approvals.
func (a *api) proposed(t *testing.T, namespace, version string) *unstructured.Unstructured {
	t.Helper()
	created := stack(t, "{stack: dev, programRef: {name: p}, approval: {require: Destructive}}")
	created.SetAPIVersion("pulumi.com/" + version)
	created.SetNamespace(namespace)
	NewWithT(t).Expect(a.strict.Create(t.Context(), created)).To(Succeed())
	return created
}

// edit patches a Stack as a user.
func (a *api) edit(t *testing.T, on *unstructured.Unstructured, by edit, options ...client.PatchOption) error {
	t.Helper()
	patch, err := yaml.YAMLToJSONStrict([]byte(by.patch))
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return a.as(t, by.user).Patch(t.Context(), on.DeepCopy(), client.RawPatch(types.MergePatchType, patch), options...)
}

// as returns a client of a user, who is in a group of their own. Flux has the rights of Flux.
func (a *api) as(t *testing.T, user string) client.Client {
	t.Helper()
	g := NewWithT(t)
	config, err := clientcmd.BuildConfigFromFlags("", a.kubeconfig)
	g.Expect(err).NotTo(HaveOccurred())
	config.Impersonate = rest.ImpersonationConfig{UserName: user, Groups: []string{groupOf(user), "system:authenticated"}}
	if user == flux {
		config.Impersonate.Groups = append(config.Impersonate.Groups, "system:masters")
	}
	api, err := client.New(config, client.Options{})
	g.Expect(err).NotTo(HaveOccurred())
	return client.WithFieldValidation(api, metav1.FieldValidationStrict)
}

// expectRefusal expects an error of a policy, or none.
func expectRefusal(t *testing.T, err error, refusal string) {
	t.Helper()
	g := NewWithT(t)
	if refusal == "" {
		g.Expect(err).NotTo(HaveOccurred())
		return
	}
	g.Expect(err).To(MatchError(ContainSubstring(refusal)))
	g.Expect(apierrors.IsForbidden(err) || apierrors.IsInvalid(err)).To(BeTrue(), "%v", err)
}
