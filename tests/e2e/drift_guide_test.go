// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"strings"
	"testing"

	"github.com/fluxcd/pkg/runtime/conditions"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

// drifting is a Stack that follows the guide to drift.
type drifting struct {
	*fluxCLI
	guide *page
	stack *v1.Stack
	// shown is what the commands have printed.
	shown []string
}

// TestTheGuideToDrift follows the guide from the first check to drift that is reported, proposed and corrected, and looks for a
// secret in all that is shown of it.
func TestTheGuideToDrift(t *testing.T) {
	t.Parallel()
	u := newDrifting(t)
	const byHand = "canary-by-hand-77b0"
	h := u.hook()
	u.tells(h, "drift", "info", "[{kind: Stack, name: assets}]")
	u.Expect(u.checks()).To(ContainSubstring("✔ no drift\n"))
	u.Expect(u.verbs()).To(Equal([]string{"stack init", "up", "refresh"}), "a check is one process, and runs no program")

	u.edited("assets", "test")
	u.edited("token", byHand)
	u.Expect(u.checks()).To(ContainSubstring("2 changed outside of Pulumi"))
	u.reports(h)
	u.Expect(u.checks()).To(ContainSubstring("2 changed outside of Pulumi"), "again")
	u.undoneByHand(h)

	u.types(strings.ReplaceAll(u.guide.fenced("Undo it", "sh")[0], " -n apps", ""))
	u.edited("assets", "test")
	u.checks()
	u.approves()

	edit(u.tenant, u.stack, func(s *v1.Stack) { s.Spec.Drift.Mode = v1.DriftCorrect })
	things, err := u.cloud.Things()
	u.Expect(err).NotTo(HaveOccurred())
	u.Expect(u.cloud.Remove(things[0].ID)).To(Succeed())
	u.checks()
	u.Eventually(u.things).Should(HaveLen(len(things)), "it is created again")
	u.awaitDrifted(metav1.ConditionFalse)
	u.awaitReady(u.stack)
	for _, text := range append(u.shown, h.texts()...) {
		u.Expect(text).NotTo(Or(ContainSubstring(canaryOfDrift), ContainSubstring(byHand)))
	}
	u.expectNotShown(map[string]string{"password": canaryOfDrift, "by hand": byHand})
}

const canaryOfDrift = "canary-drifted-51c3"

// newDrifting prepares what the guide has, with a program for this cloud.
func newDrifting(t *testing.T) *drifting {
	t.Helper()
	u := &drifting{fluxCLI: newFluxCLI(newTenant(t, shared))}
	u.guide = u.pageOf("guides/drift.md")
	shown := &v1.Stack{}
	for _, document := range strings.Split(u.guide.fenced("Check for drift", "yaml")[0], "---\n") {
		object := &unstructured.Unstructured{}
		u.Expect(yaml.UnmarshalStrict([]byte(document), &object.Object)).To(Succeed())
		if object.GetKind() == v1.StackKind {
			u.Expect(runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, shown)).To(Succeed())
		}
	}
	program := u.program(`
configuration:
  password: {type: String, secret: true}
resources:
  assets:
    type: lab:index:Thing
    properties: {name: assets, value: prod}
  token:
    type: lab:index:Thing
    properties: {name: token, value: "${password}"}
`)
	program.Name = shown.Spec.ProgramRef.Name
	u.apply(program)
	u.apply(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "app"}, StringData: map[string]string{"password": canaryOfDrift}})
	u.stack = u.tenant.stack(func(s *v1.Stack) {
		s.Name, s.Spec.ProgramRef, s.Spec.Drift = shown.Name, shown.Spec.ProgramRef, shown.Spec.Drift
		s.Spec.SecretsRef = map[string]v1.ResourceRef{"password": secretKey("app", "password")}
	})
	u.apply(u.stack)
	u.awaitReady(u.stack)
	return u
}

// does runs a command of flux pulumi in this namespace, and returns what it prints.
func (u *drifting) does(command string) string {
	u.test.Helper()
	command = strings.NewReplacer("flux pulumi ", "", "-n apps", "-n "+u.namespace).Replace(command)
	out, errs, exit := u.run(strings.Fields(command)...)
	u.Expect(exit).To(BeZero(), "%s: %s%s", command, out, errs)
	u.shown = append(u.shown, out, errs)
	return out + errs
}

// checks checks for drift now.
func (u *drifting) checks() string {
	u.test.Helper()
	return u.does(u.guide.fenced("Check for drift", "sh")[1])
}

func (u *drifting) awaitDrifted(status metav1.ConditionStatus) {
	u.test.Helper()
	u.Eventually(func(g Gomega) {
		g.Expect(u.Get(u.ctx, keyOf(u.stack), u.stack)).To(Succeed())
		g.Expect(conditions.Get(u.stack, v1.DriftedCondition)).To(HaveField("Status", status))
	}).Should(Succeed())
}

// reports looks at all that tells of drift.
func (u *drifting) reports(h *hook) {
	u.test.Helper()
	u.awaitReady(u.stack)
	u.Expect(u.stack.Status.Drift).To(And(HaveField("Result", v1.DriftDetectedReason), HaveField("Changed", int32(2)), HaveField("Deleted", int32(0))))
	u.awaitDrifted(metav1.ConditionTrue)
	notice := u.awaitNotice(h, u.stack, "error", v1.DriftDetectedReason)
	u.Expect(notice.Metadata).To(HaveKeyWithValue("diff", ContainSubstring(`!   value: "prod" => "test"`)))
	out, errs, exit := u.run("drift", "stack", "assets")
	u.Expect(exit).To(Equal(1), errs)
	u.Expect(out).To(And(ContainSubstring("~ lab:index:Thing assets (changed)\n     ~ value: \"prod\" => \"test\"\n"), ContainSubstring("~ value: [secret] => [secret]")))
	u.shown = append(u.shown, out, errs)
	u.Expect(fields(u.does("get stacks -o wide"), "assets")[4]).To(Equal("True"))
	u.Expect(u.things()).To(HaveKeyWithValue("assets", "test"), "it is only reported")
}

// undoneByHand undoes the drift with the command of the guide. It was announced once, and so is its end.
func (u *drifting) undoneByHand(h *hook) {
	u.test.Helper()
	kept := client.ObjectKey{Namespace: u.namespace, Name: u.stack.Status.Drift.ConfigMap}
	u.Expect(u.Get(u.ctx, kept, &corev1.ConfigMap{})).To(Succeed())
	u.does(u.guide.fenced("Undo it", "sh")[1])
	u.Expect(u.things()).To(Equal(map[string]string{"assets": "prod", "token": canaryOfDrift}))
	u.Expect(u.checks()).To(ContainSubstring("✔ no drift\n"))
	u.awaitNotice(h, u.stack, "info", v1.NoDriftReason, "The drift is gone")
	u.Expect(u.Get(u.ctx, kept, &corev1.ConfigMap{})).To(Satisfy(apierrors.IsNotFound))
	detected := 0
	for _, event := range h.events(u) {
		if event.Reason == v1.DriftDetectedReason {
			detected++
		}
	}
	u.Expect(detected).To(Equal(1), "two checks have found the same")
}

// approves approves the plan that undoes the drift.
func (u *drifting) approves() {
	u.test.Helper()
	u.Eventually(func(g Gomega) {
		g.Expect(u.Get(u.ctx, keyOf(u.stack), u.stack)).To(Succeed())
		g.Expect(u.stack.Status.Plan).To(And(HaveField("State", v1.PlanProposed), HaveField("Drift", u.stack.Status.Drift.Digest)))
	}).Should(Succeed())
	u.Expect(u.things()).To(HaveKeyWithValue("assets", "test"))
	u.Expect(u.does("approve stack assets --yes")).To(ContainSubstring("~ lab:index:Thing assets (update)"))
	u.awaitDrifted(metav1.ConditionFalse)
	u.Expect(u.things()).To(HaveKeyWithValue("assets", "prod"))
}
