// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package inputs_test

import (
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/inputs"
)

func TestValidate(t *testing.T) {
	for name, tt := range map[string]struct {
		edit func(*v1.StackSpec)
		want string
	}{
		"a program is enough": {func(*v1.StackSpec) {}, ""},
		"a source is enough": {func(s *v1.StackSpec) {
			s.ProgramRef, s.FluxSource = nil, &v1.FluxSource{}
		}, ""},
		"references with what they need": {func(s *v1.StackSpec) {
			s.EnvRefs = refs{"A": literal(""), "B": fromSecret("", "s", "k")}
			s.SecretsRef = refs{"a:b": literal("x")}
		}, ""},
		"no stack": {func(s *v1.StackSpec) { s.Stack = "" }, "spec.stack: is required"},
		"both a source and a program": {func(s *v1.StackSpec) { s.FluxSource = &v1.FluxSource{} },
			"spec: exactly one of fluxSource and programRef is required, and both are set: remove one"},
		"neither a source nor a program": {func(s *v1.StackSpec) { s.ProgramRef = nil },
			"spec: exactly one of fluxSource and programRef is required, and neither is set: add one"},
		"a Secret without a name of one": {func(s *v1.StackSpec) { s.EnvRefs = refs{"A": {Type: v1.ResourceRefSecret}} },
			"spec.envRefs.A: secret is required when type is Secret: add secret.name and secret.key"},
		"a Secret without a key": {func(s *v1.StackSpec) { s.EnvRefs = refs{"A": fromSecret("", "s", "")} },
			"spec.envRefs.A: secret.name and secret.key are required"},
		"a Literal with a Secret in its place": {func(s *v1.StackSpec) {
			ref := fromSecret("", "s", "k")
			ref.Type = v1.ResourceRefLiteral
			s.SecretsRef = refs{"a:b": ref}
		}, "spec.secretsRef.a:b: literal is required when type is Literal: add literal.value"},
		"a type of the Pulumi operator": {func(s *v1.StackSpec) { s.EnvRefs = refs{"A": {Type: "FS"}} },
			`spec.envRefs.A: type "FS" is not supported: use Secret or Literal`},
		"no type": {func(s *v1.StackSpec) { s.EnvRefs = refs{"A": {}} }, `spec.envRefs.A: type "" is not supported`},
		"a variable that cannot be one": {func(s *v1.StackSpec) { s.EnvRefs = refs{"A=B": literal("")} },
			`spec.envRefs: "A=B" cannot be the name of an environment variable`},
		"a variable without a name": {func(s *v1.StackSpec) { s.EnvRefs = refs{"": literal("")} },
			`spec.envRefs: "" cannot be the name of an environment variable`},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			stack := stackOf(nil, nil, nil)
			tt.edit(&stack.Spec)
			err := inputs.Validate(stack)
			if tt.want == "" {
				g.Expect(err).ToNot(HaveOccurred())
				return
			}
			var invalid *inputs.InvalidError
			g.Expect(err).To(BeAssignableToTypeOf(invalid))
			g.Expect(err).To(MatchError(ContainSubstring(tt.want)))
		})
	}
}

func TestSecretRefs(t *testing.T) {
	g := NewWithT(t)
	g.Expect(inputs.SecretRefs(stackOf(nil, nil, nil))).To(BeEmpty())
	g.Expect(inputs.SecretRefs(stackOf(
		refs{"A": fromSecret("", "z", "k"), "B": fromSecret("apps", "a", "k"), "C": literal("x"), "D": {Type: v1.ResourceRefSecret}},
		refs{"a": fromSecret("", "a", "other"), "b": fromSecret("aaa", "z", "k"), "c": fromSecret("zzz", "a", "k")},
		nil,
	))).To(Equal([]types.NamespacedName{
		{Namespace: "aaa", Name: "z"}, {Namespace: "apps", Name: "a"}, {Namespace: "apps", Name: "z"}, {Namespace: "zzz", Name: "a"},
	}), "each once and in order, those of other namespaces too")
}
