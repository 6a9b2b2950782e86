// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"testing"

	. "github.com/onsi/gomega"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

func TestAFaultyFieldIsLeftOutToFindTheNextFault(t *testing.T) {
	secret := v1.ResourceRef{Type: v1.ResourceRefSecret, Secret: &v1.SecretKeyReference{Name: "a", Key: "b"}}
	given := func() *v1.Stack {
		return &v1.Stack{Spec: v1.StackSpec{
			Stack: "dev", ProgramRef: &v1.ProgramReference{Name: "app"}, SecretsProvider: "awskms://a", Refresh: true,
			EnvRefs: map[string]v1.ResourceRef{"PROXY": secret, "PROXY_USER": secret},
		}}
	}
	for _, tt := range []struct {
		name, message string
		want          func(*v1.StackSpec)
	}{
		{"a field", "spec.secretsProvider: is not known", func(s *v1.StackSpec) { s.SecretsProvider = "" }},
		{"a member", "spec.envRefs.PROXY: type Env reads from the controller", func(s *v1.StackSpec) { delete(s.EnvRefs, "PROXY") }},
		{"a member whose name begins with another", "spec.envRefs.PROXY_USER: type Env", func(s *v1.StackSpec) { delete(s.EnvRefs, "PROXY_USER") }},
		{"all members", `spec.envRefs: "A-B" is not a valid name`, func(s *v1.StackSpec) { s.EnvRefs = nil }},
		{"a field within a sentence", "access denied to spec.envRefs.PROXY", func(s *v1.StackSpec) { delete(s.EnvRefs, "PROXY") }},
		{"what makes the Stack", "spec.programRef: is missing", nil},
		{"a field that is not set", "spec.backend: is not a URL", nil},
		{"no field", "the program has no name", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := NewWithT(t)
			left := withoutFault(given(), tt.message)
			if tt.want == nil {
				g.Expect(left).To(BeNil())
				return
			}
			want := given()
			tt.want(&want.Spec)
			g.Expect(left.Spec).To(Equal(want.Spec))
		})
	}
}
