// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"testing"

	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

// A label names a queue of Jobs, and may be all that a Stack asks for.
func TestATemplateWithOnlyJobLabelsIsUsed(t *testing.T) {
	g := NewWithT(t)
	o := &Observer{}
	const text = `{"metadata":{"labels":{"kueue.x-k8s.io/queue-name":"q"}}}`
	stack := &v1.Stack{Spec: v1.StackSpec{WorkspaceTemplate: &apiextensionsv1.JSON{Raw: []byte(text)}}}
	g.Expect(o.workspaceOf(stack)).To(BeNil(), "this controller makes no Jobs")
	o.Jobs = true
	g.Expect(o.workspaceOf(stack)).To(MatchJSON(text))
	stack.Spec.WorkspaceTemplate.Raw = []byte(`{"metadata":{"labels":{}}}`)
	g.Expect(o.workspaceOf(stack)).To(BeNil())
}
