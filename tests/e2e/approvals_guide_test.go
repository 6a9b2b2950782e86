// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/controlplane"
	"github.com/flux-pulumi/pulumi-controller/tests/manifests"
	"github.com/flux-pulumi/pulumi-controller/tests/process"
	"github.com/flux-pulumi/pulumi-controller/tests/system"
)

// approvals is a namespace with the policy of config/approvals, whose users follow the guide.
type approvals struct {
	*tenant
	guide *page
	stack *v1.Stack
	// approver and editor run flux pulumi.
	approver, editor *fluxCLI
	// kubeconfig is that of the approver.
	kubeconfig string
}

// TestTheGuideToApprovals follows the guide from the first proposal to the approved destroy, and looks for a secret in all
// that is shown of the plans.
func TestTheGuideToApprovals(t *testing.T) {
	t.Parallel()
	u := newApprovals(t)
	const canary = "canary-approved-4e21"
	u.apply(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "app"}, StringData: map[string]string{"password": canary}})
	h := u.hook()
	u.tells(h, "plans", "info", "[{kind: Stack, name: words}]")
	u.apply(u.stack)
	u.typesAsApprover(u.guide.fenced("Propose a change", "sh")[0], "kubectl apply -f words.yaml\n", "")
	u.Expect(u.things()).To(BeEmpty(), "nothing is done without an approval")

	out, errs, exit := u.approver.run("diff", "stack", "words")
	u.Expect(exit).To(Equal(1), errs)
	u.Expect(out).To(And(ContainSubstring("+ lab:index:Thing word (create)"), ContainSubstring("secretValue: [secret]")))
	seen := []string{out, errs}
	notice := u.awaitNotice(h, u.stack, "info", v1.ApprovalRequiredReason)
	u.Expect(notice.Metadata).To(And(
		HaveKeyWithValue("plan", u.planned().Digest), HaveKeyWithValue("diff", ContainSubstring("+ lab:index:Thing word (create)"))))
	seen = append(seen, notice.Metadata["diff"])

	u.Expect(u.editor.fails("approve", "stack", "words", "--yes")).To(ContainSubstring("bob may not approve or reject changes of Stacks in namespace " + u.namespace))
	seen = append(seen, u.answers("y", "approve", "stack", "words"))
	u.awaitReady(u.stack)
	u.Expect(u.things()).To(HaveKeyWithValue("word", "two"))
	u.Expect(u.planned()).To(And(HaveField("State", v1.PlanApplied), HaveField("ApprovedBy", "alice")))
	u.awaitEvent(u.stack, corev1.EventTypeNormal, "ReconciliationSucceeded", "was approved by alice")
	first := u.planned().ConfigMap

	u.rejectsAndTakesBack()
	u.Expect(u.Get(u.ctx, client.ObjectKey{Namespace: u.namespace, Name: first}, &corev1.ConfigMap{})).To(Satisfy(apierrors.IsNotFound), "the details of the former plan")

	u.delete(u.stack)
	u.awaitProposed(v1.OperationDestroy)
	u.Expect(u.things()).To(HaveKey("word2"))
	seen = append(seen, u.answers("yes", "approve", "stack", "words", "--digest", u.planned().Digest))
	u.awaitGone(u.stack)
	u.Expect(u.things()).To(BeEmpty())
	for _, text := range append(seen, h.texts()...) {
		u.Expect(text).NotTo(ContainSubstring(canary))
	}
	u.expectNoCanary(map[string]string{"password": canary})
}

// newApprovals prepares what the guide has.
func newApprovals(t *testing.T) *approvals {
	t.Helper()
	u := &approvals{tenant: newTenant(t, shared)}
	u.guide = u.pageOf("guides/approvals.md")
	u.installPolicy()
	binding := &rbacv1.RoleBinding{}
	u.Expect(yaml.UnmarshalStrict([]byte(u.guide.fenced("Decide who may approve", "yaml")[0]), binding)).To(Succeed())
	binding.Namespace = u.namespace
	u.apply(binding)
	u.apply(&rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "editors"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "edit-everything"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: "bob"}},
	})
	u.apply(&rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "edit-everything"}, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{v1.GroupVersion.Group}, Resources: []string{"stacks", "programs"}, Verbs: []string{"get", "list", "watch", "update", "patch"}},
		{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"get"}},
	}})
	u.approver, u.kubeconfig = u.user("alice", binding.Subjects[0].Name)
	u.editor, _ = u.user("bob", "editors")
	u.stack = u.words()
	return u
}

// words is the Stack of the guide, with a program for this cloud.
func (u *approvals) words() *v1.Stack {
	u.test.Helper()
	shown := &v1.Stack{}
	for _, document := range strings.Split(u.guide.fenced("Propose a change", "yaml")[0], "---\n") {
		object := &unstructured.Unstructured{}
		u.Expect(yaml.UnmarshalStrict([]byte(document), &object.Object)).To(Succeed())
		if object.GetKind() == "Stack" {
			u.Expect(runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, shown)).To(Succeed())
		}
	}
	program := u.program(secretThing("word", "two"))
	program.Name = shown.Spec.ProgramRef.Name
	u.apply(program)
	return u.tenant.stack(func(s *v1.Stack) {
		s.Name, s.Spec.ProgramRef = shown.Name, shown.Spec.ProgramRef
		s.Spec.Approval, s.Spec.DestroyOnFinalize = shown.Spec.Approval, shown.Spec.DestroyOnFinalize
		s.Spec.SecretsRef = map[string]v1.ResourceRef{"password": secretKey("app", "password")}
	})
}

func secretThing(name, value string) string {
	return `
configuration:
  password: {type: String, secret: true}
resources:
  word:
    type: lab:index:Thing
    properties: {name: ` + name + `, value: ` + value + `, secretValue: "${password}"}
outputs:
  word: ${word.value}
`
}

// installPolicy installs config/approvals, for this namespace alone.
func (u *approvals) installPolicy() {
	u.test.Helper()
	root, err := process.RepoRoot()
	u.Expect(err).NotTo(HaveOccurred())
	unit, err := manifests.Build(u.ctx, root, u.test.TempDir(), "config/approvals")
	u.Expect(err).NotTo(HaveOccurred())
	objects, err := unit.Objects()
	u.Expect(err).NotTo(HaveOccurred())
	for _, object := range objects {
		if object.GetKind() == "ValidatingAdmissionPolicyBinding" {
			object.SetName(u.namespace)
			selector := map[string]any{"matchLabels": map[string]any{corev1.LabelMetadataName: u.namespace}}
			u.Expect(unstructured.SetNestedField(object.Object, selector, "spec", "matchResources", "namespaceSelector")).To(Succeed())
			u.test.Cleanup(func() {
				_ = u.Delete(u.ctx, &admissionv1.ValidatingAdmissionPolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: u.namespace}})
			})
		}
		u.Expect(client.IgnoreAlreadyExists(u.Create(u.ctx, object))).To(Succeed())
	}
}

// user returns flux as a user of a group, and the kubeconfig.
func (u *approvals) user(name, group string) (*fluxCLI, string) {
	u.test.Helper()
	kubeconfig := filepath.Join(u.test.TempDir(), "kubeconfig")
	config := u.ControlPlane.RESTConfig()
	config.Impersonate = rest.ImpersonationConfig{UserName: name, Groups: []string{group}}
	u.Expect(controlplane.WriteKubeconfig(kubeconfig, config)).To(Succeed())
	cli, err := system.NewFluxCLI(u.test.TempDir(), kubeconfig, "FLUX_SYSTEM_NAMESPACE="+u.namespace)
	u.Expect(err).NotTo(HaveOccurred())
	return &fluxCLI{tenant: u.tenant, cli: cli}, kubeconfig
}

// answers runs a command of the approver that asks, and returns what it prints.
func (u *approvals) answers(answer string, args ...string) string {
	u.test.Helper()
	command := u.approver.cli.Command(u.ctx, append([]string{"pulumi"}, args...)...)
	var printed bytes.Buffer
	command.Stdin, command.Stdout, command.Stderr = strings.NewReader(answer+"\n"), &printed, &printed
	u.Expect(command.Run()).To(Succeed(), printed.String())
	u.Expect(printed.String()).To(ContainSubstring("✔ plan approved as alice"))
	return printed.String()
}

// typesAsApprover types commands of the guide as the approver, in this namespace.
func (u *approvals) typesAsApprover(commands string, replaced ...string) {
	u.test.Helper()
	commands = strings.NewReplacer(append(replaced, "-n apps", "-n "+u.namespace)...).Replace(commands)
	output, err := u.shell(u.dir, "export KUBECONFIG="+u.kubeconfig+"\n"+commands)
	u.Expect(err).NotTo(HaveOccurred(), "%s: %s", commands, output)
}

// planned is the plan in the status.
func (u *approvals) planned() *v1.PlanStatus {
	u.test.Helper()
	u.Expect(u.Get(u.ctx, client.ObjectKeyFromObject(u.stack), u.stack)).To(Succeed())
	u.Expect(u.stack.Status.Plan).NotTo(BeNil())
	return u.stack.Status.Plan
}

func (u *approvals) awaitProposed(operation v1.Operation) {
	u.test.Helper()
	u.Eventually(func(g Gomega) {
		g.Expect(u.Get(u.ctx, client.ObjectKeyFromObject(u.stack), u.stack)).To(Succeed())
		g.Expect(u.stack.Status.Plan).To(And(HaveField("State", v1.PlanProposed), HaveField("Operation", operation)))
	}).Should(Succeed())
}

// rejectsAndTakesBack rejects a replacement, with the command of the guide, and approves it with annotations.
func (u *approvals) rejectsAndTakesBack() {
	u.test.Helper()
	program := &v1.Program{ObjectMeta: metav1.ObjectMeta{Namespace: u.namespace, Name: u.stack.Spec.ProgramRef.Name}}
	edit(u.tenant, program, func(p *v1.Program) { u.setProgram(p, secretThing("word2", "three")) })
	u.awaitProposed(v1.OperationUpdate)
	out, _, _ := u.approver.run("diff", "stack", "words")
	u.Expect(out).To(And(ContainSubstring("lab:index:Thing word (replace"), ContainSubstring(`"word" => "word2"`), ContainSubstring("forces replacement")))
	args := strings.Fields(strings.NewReplacer("flux pulumi ", "", "-n apps", "-n "+u.namespace, `"not before the release"`, "later").Replace(u.guide.fenced("Reject it", "sh")[0]))
	u.Expect(u.approver.does(args...)).To(ContainSubstring("rejected as alice"))
	u.awaitStalled(u.stack, v1.PlanRejectedReason, "was rejected by alice: later")
	u.Expect(u.things()).To(HaveKeyWithValue("word", "two"))

	u.typesAsApprover("kubectl -n apps annotate stack words pulumi.com/reject- pulumi.com/reject-reason-")
	u.typesAsApprover(u.guide.fenced("Approve it", "sh")[0])
	u.awaitReady(u.stack)
	u.Expect(u.things()).To(Equal(map[string]string{"word2": "three"}))
	u.Expect(u.planned()).To(And(HaveField("State", v1.PlanApplied), HaveField("ApprovedBy", "alice")))
}
