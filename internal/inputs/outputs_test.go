// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package inputs_test

import (
	"errors"
	"testing"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/inputs"
)

func TestOutputsAreNotWrittenOverInputs(t *testing.T) {
	for name, tt := range map[string]struct {
		edit    func(*v1.StackSpec)
		refused bool
	}{
		"envRefs":           {func(s *v1.StackSpec) { s.EnvRefs = refs{"A": fromSecret("", "out", "k")} }, true},
		"secretsRef":        {func(s *v1.StackSpec) { s.SecretsRef = refs{"a:b": fromSecret("", "out", "k")} }, true},
		"its own namespace": {func(s *v1.StackSpec) { s.SecretsRef = refs{"a:b": fromSecret("default", "out", "k")} }, true},
		"another namespace": {func(s *v1.StackSpec) { s.SecretsRef = refs{"a:b": fromSecret("other", "out", "k")} }, false},
		"envSecrets":        {func(s *v1.StackSpec) { s.EnvSecrets = []string{"a", "out"} }, true},
		"accessTokenSecret": {func(s *v1.StackSpec) { s.AccessTokenSecret = "out" }, true},
		"other Secrets": {func(s *v1.StackSpec) {
			s.EnvSecrets, s.AccessTokenSecret = []string{"a"}, "b"
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			stack := &v1.Stack{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "app"}}
			stack.Spec.Stack, stack.Spec.ProgramRef = "dev", &v1.ProgramReference{Name: "app"}
			stack.Spec.WriteOutputsToSecret = &v1.OutputsSecret{Name: "out"}
			tt.edit(&stack.Spec)
			err := inputs.Validate(stack)
			if !tt.refused {
				g.Expect(err).NotTo(HaveOccurred())
				return
			}
			var invalid *inputs.InvalidError
			g.Expect(errors.As(err, &invalid)).To(BeTrue(), "%v", err)
			g.Expect(err).To(MatchError(ContainSubstring("the Stack itself reads values from Secret out")))
		})
	}
}
