// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package inputs_test

import (
	"context"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/inputs"
)

func configMapOf(name string, data map[string]string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "apps", Name: name}, Data: data}
}

// listed returns a Stack with all fields that name whole objects.
func listed(change func(*v1.StackSpec)) *v1.Stack {
	stack := stackOf(nil, nil, nil)
	stack.Spec.Envs, stack.Spec.EnvSecrets, stack.Spec.AccessTokenSecret = []string{"first", "second"}, []string{"aws", "more"}, "cloud"
	if change != nil {
		change(&stack.Spec)
	}
	return stack
}

func objects() []client.Object {
	return []client.Object{
		configMapOf("first", map[string]string{"A": "first", "B": "first", "C": "first", "D": "first", "app.properties": "x"}),
		configMapOf("second", map[string]string{"B": "second", "C": "second", "PULUMI_CONFIG_PASSPHRASE": "horse", "PULUMI_ACCESS_TOKEN": "plain-token"}),
		secret("apps", "aws", "uid-1", map[string]string{"C": "aws-secret", "D": "aws-secret", "tls.key": "pem", "1": "x", "PULUMI_ACCESS_TOKEN": "aws-token"}),
		secret("apps", "more", "uid-2", map[string]string{"D": "more-secret"}),
		secret("apps", "cloud", "uid-3", map[string]string{"accessToken": "cloud-token", "other": "x"}),
	}
}

func TestLaterFieldsOverrideEarlierOnes(t *testing.T) {
	g := NewWithT(t)
	got, err := inputs.Resolve(context.Background(), readerOf(g, nil, objects()...), listed(nil), inputs.Options{NoCrossNamespaceRefs: true})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(got.Env).To(Equal(map[string]string{
		"A": "first", "B": "second", "C": "aws-secret", "D": "more-secret",
		"PULUMI_CONFIG_PASSPHRASE": "horse", "PULUMI_ACCESS_TOKEN": "cloud-token",
	}))
	g.Expect(got.EnvFields).To(Equal(map[string]string{
		"A": "spec.envs[0] (key A)", "B": "spec.envs[1] (key B)", "C": "spec.envSecrets[0] (key C)", "D": "spec.envSecrets[1] (key D)",
		"PULUMI_CONFIG_PASSPHRASE": "spec.envs[1] (key PULUMI_CONFIG_PASSPHRASE)", "PULUMI_ACCESS_TOKEN": "spec.accessTokenSecret",
	}))
	g.Expect(got.Masks).To(Equal([]string{"cloud-token", "more-secret", "aws-secret", "horse"}), "Secrets, and what is always secret")
	g.Expect(got.LeftOut).To(Equal([]string{
		"spec.envs[0]: ignoring 1 key of ConfigMap 'apps/first' that cannot name an environment variable",
		"spec.envSecrets[0]: ignoring 2 keys of Secret 'apps/aws' that cannot name an environment variable",
	}), "and their names are not in the message")

	got, err = inputs.Resolve(context.Background(), readerOf(g, nil, objects()...), listed(func(s *v1.StackSpec) {
		s.EnvRefs = refs{"D": literal("ref"), "PULUMI_ACCESS_TOKEN": literal("ref-token")}
		s.AccessTokenSecret = "gone"
	}), inputs.Options{})
	g.Expect(err).NotTo(HaveOccurred(), "what does not count need not be there")
	g.Expect(got.Env).To(And(HaveKeyWithValue("D", "ref"), HaveKeyWithValue("PULUMI_ACCESS_TOKEN", "ref-token")))
	g.Expect(got.EnvFields).To(HaveKeyWithValue("D", "spec.envRefs.D"))
}

func TestTheDigestDependsOnTheSecretOfAVariableButNotOnItsField(t *testing.T) {
	g := NewWithT(t)
	digest := func(stack *v1.Stack, objects ...client.Object) string {
		got, err := inputs.Resolve(context.Background(), readerOf(g, nil, objects...), stack, inputs.Options{})
		g.Expect(err).NotTo(HaveOccurred())
		return got.Digest
	}
	fromMap := stackOf(nil, nil, nil)
	fromMap.Spec.Envs = []string{"m"}
	one := digest(fromMap, configMapOf("m", map[string]string{"A": "1", "not.one": "1"}))
	g.Expect(digest(stackOf(refs{"A": literal("1")}, nil, nil))).To(Equal(one))
	g.Expect(digest(fromMap, configMapOf("m", map[string]string{"A": "1", "not.one": "2"}))).To(Equal(one))
	g.Expect(digest(fromMap, configMapOf("m", map[string]string{"A": "2"}))).NotTo(Equal(one))

	inSpec := stackOf(nil, nil, nil)
	inSpec.Spec.Secrets = map[string]string{"pw": "1"}
	g.Expect(digest(stackOf(nil, refs{"pw": literal("1")}, nil))).To(Equal(digest(inSpec)))
}

func TestSecretsInTheSpecAreMasked(t *testing.T) {
	g := NewWithT(t)
	stack := stackOf(nil, refs{"a": literal("ref-secret")}, nil)
	stack.Spec.Secrets = map[string]string{"b": "hunter2hunter2"}
	got, err := inputs.Resolve(context.Background(), readerOf(g, nil), stack, inputs.Options{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(got.Secrets).To(Equal(map[string]string{"a": "ref-secret", "b": "hunter2hunter2"}))
	g.Expect(got.Masks).To(Equal([]string{"hunter2hunter2", "ref-secret"}))
	stack.Spec.Secrets["a"] = "twice"
	_, err = inputs.Resolve(context.Background(), readerOf(g, nil), stack, inputs.Options{})
	g.Expect(kindOf(err)).To(Equal("invalid"))
}

func TestErrorsOfWholeObjectsNameTheEntry(t *testing.T) {
	for name, tt := range map[string]struct {
		change     func(*v1.StackSpec)
		want, kind string
	}{
		"no ConfigMap": {func(s *v1.StackSpec) { s.Envs = []string{"first", "gone"} }, "spec.envs[1]: ConfigMap 'apps/gone' not found", "missing"},
		"no Secret":    {func(s *v1.StackSpec) { s.EnvSecrets = []string{"gone"} }, "spec.envSecrets[0]: Secret 'apps/gone' not found", "missing"},
		"no token": {func(s *v1.StackSpec) { s.AccessTokenSecret = "aws" },
			`spec.accessTokenSecret: Secret 'apps/aws' has no key "accessToken"`, "missing"},
		"a NUL byte": {func(s *v1.StackSpec) { s.EnvSecrets = []string{"nul"} },
			"spec.envSecrets[0] (key A): the value contains a NUL byte", "unusable"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			reader := readerOf(g, nil, append(objects(), secret("apps", "nul", "uid-9", map[string]string{"A": "x\x00"}))...)
			_, err := inputs.Resolve(context.Background(), reader, listed(tt.change), inputs.Options{})
			g.Expect(err).To(MatchError(ContainSubstring(tt.want)))
			g.Expect(kindOf(err)).To(Equal(tt.kind))
		})
	}
}

func TestConfigMapRefsIncludeEnvs(t *testing.T) {
	g := NewWithT(t)
	stack := listed(func(s *v1.StackSpec) { s.ConfigRef = map[string]v1.ConfigMapRef{"a": {Name: "second", Key: "k"}} })
	g.Expect(inputs.ConfigMapRefs(stack)).To(Equal([]types.NamespacedName{{Namespace: "apps", Name: "first"}, {Namespace: "apps", Name: "second"}}))
}

func TestTheControllerIsReadOnlyWhereThatIsAllowed(t *testing.T) {
	g := NewWithT(t)
	for _, ref := range []v1.ResourceRef{fromEnv("TOKEN"), fromFile("/etc/hostname")} {
		_, err := inputs.Resolve(context.Background(), readerOf(g, nil), stackOf(refs{"A": ref}, nil, nil), inputs.Options{})
		g.Expect(kindOf(err)).To(Equal("denied"))
		g.Expect(err).To(MatchError(And(HavePrefix("spec.envRefs.A: "), ContainSubstring("--allow-controller-refs"), ContainSubstring("use type Secret"))))
	}
}
