// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

func TestAProgramMadeAfterItsStackIsFollowed(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	u := newTenant(t, shared)
	stack := u.stack(fromProgram)
	u.apply(stack)
	u.awaitMissing(stack, "Program "+u.namespace+"/app not found")

	u.apply(u.program(oneThing("one")))
	u.awaitReady(stack)
	u.Expect(u.resourcesInState("app", "dev")).To(Equal([]string{"a"}), "the project has the name of the Program")
}

func TestExpressionsOfAProgramAreEvaluated(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	u := newTenant(t, shared)
	u.apply(u.program(`
variables:
  joined:
    fn::join: ["-", [x, "${a.value}", z]]
resources:
  a:
    type: lab:index:Thing
    properties: {name: a, value: one}
  b:
    type: lab:index:Thing
    properties: {name: b, value: "${joined}", tags: {from: "${a.id}"}}
outputs:
  json:
    fn::toJSON: {value: "${b.value}", stack: "${pulumi.stack}", project: "${pulumi.project}"}
  list: [1, true, "${a.name}"]
`))
	stack := u.stack(fromProgram)
	u.apply(stack)
	u.awaitReady(stack)
	u.Expect(u.things()).To(Equal(map[string]string{"a": "one", "b": "x-one-z"}))
	u.Expect(stack.Status.Outputs["json"].Raw).To(MatchJSON(`"{\"project\":\"app\",\"stack\":\"dev\",\"value\":\"x-one-z\"}"`))
	u.Expect(stack.Status.Outputs["list"].Raw).To(MatchJSON(`[1,true,"a"]`))
}

func TestConfigReachesTheProgramAndIsFollowed(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	u := newTenant(t, shared)
	u.apply(u.program(`
configuration:
  who: {type: String}
  count: {type: Number}
  names: {type: "List<String>"}
resources:
  a:
    type: lab:index:Thing
    properties: {name: a, value: "${who}"}
outputs:
  count: ${count}
  names: ${names}
`))
	stack := u.stack(fromProgram, func(s *v1.Stack) {
		s.Spec.Config["who"] = jsonText("one")
		s.Spec.Config["count"] = apiextensionsv1.JSON{Raw: []byte("3")}
		s.Spec.Config["app:names"] = apiextensionsv1.JSON{Raw: []byte(`["x","y"]`)}
	})
	u.apply(stack)
	u.awaitReady(stack)
	u.Expect(u.things()).To(Equal(map[string]string{"a": "one"}))
	u.Expect(stack.Status.Outputs["count"].Raw).To(MatchJSON("3"))
	u.Expect(stack.Status.Outputs["names"].Raw).To(MatchJSON(`["x","y"]`))

	edit(u, stack, func(s *v1.Stack) {
		s.Spec.Config["who"] = jsonText("two")
		s.Spec.Config["app:names"] = apiextensionsv1.JSON{Raw: []byte(`["z"]`)}
	})
	u.awaitReady(stack)
	u.Expect(u.things()).To(Equal(map[string]string{"a": "two"}))
	u.Expect(stack.Status.Outputs["names"].Raw).To(MatchJSON(`["z"]`))
}

// secretive is a program with secret config, which goes to a thing and to an output.
const secretive = `
configuration:
  password: {type: String, secret: true}
resources:
  a:
    type: lab:index:Thing
    properties: {name: a, secretValue: "${password}", tags: {made: "yes"}}
outputs:
  password: ${password}
`

func TestSecretsReachTheProgramAndTheirRotationIsFollowed(t *testing.T) {
	t.Parallel()
	u := newTenant(t, shared)
	u.apply(u.program(secretive))
	u.apply(&corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "app"},
		StringData: map[string]string{"password": "hunter-one", "passphrase": passphrase, "other": "x"},
	})
	stack := u.stack(fromProgram, func(s *v1.Stack) {
		s.Spec.SecretsRef = map[string]v1.ResourceRef{"password": secretKey("app", "password")}
		s.Spec.EnvRefs = map[string]v1.ResourceRef{
			"PULUMI_CONFIG_PASSPHRASE": secretKey("app", "passphrase"),
			"GREETING":                 literal("hello"),
		}
	})
	u.apply(stack)
	u.awaitReady(stack)
	u.Expect(stack.Status.Outputs["password"].Raw).To(MatchJSON(`"[secret]"`))
	u.Expect(u.pulumiCalls()).To(HaveLen(2))

	// What the Stack does not use makes no run: neither another Secret, nor another key of the same one.
	unrelated := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "unrelated"}, StringData: map[string]string{"password": "y"}}
	u.apply(unrelated)
	edit(u, unrelated, func(s *corev1.Secret) { s.StringData = map[string]string{"password": "z"} })
	before := u.reconcilesOf(stack)
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "app", Namespace: u.namespace}}
	edit(u, secret, func(s *corev1.Secret) { s.StringData = map[string]string{"other": "y"} })
	u.Eventually(func() int { return u.reconcilesOf(stack) }).Should(BeNumerically(">", before))
	u.Expect(u.pulumiCalls()).To(HaveLen(2))
	digest := stack.Status.LastAppliedDigest

	edit(u, secret, func(s *corev1.Secret) { s.StringData = map[string]string{"password": "hunter-two"} })
	u.awaitReady(stack, func(g Gomega, s *v1.Stack) { g.Expect(s.Status.LastAppliedDigest).NotTo(Equal(digest)) })
	u.Expect(u.pulumiCalls()).To(HaveLen(3), "one run, for the rotated Secret alone")
	u.Expect(u.journal(u)).To(ContainElement("update done a"))
}

// PULUMI_BACKEND_URL is the one variable whose effect can be seen from outside.
func TestTheEnvironmentMayNameTheBackend(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	u := newTenant(t, shared)
	u.apply(u.program(oneThing("one")))
	u.apply(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "env"}, StringData: map[string]string{"backend": u.backendURL()}})
	stack := u.stack(fromProgram, func(s *v1.Stack) {
		s.Spec.Backend = ""
		s.Spec.EnvRefs["PULUMI_BACKEND_URL"] = secretKey("env", "backend")
	})
	u.apply(stack)
	u.awaitReady(stack)
	u.Expect(u.resourcesInState("app", "dev")).To(Equal([]string{"a"}))
}
