// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

// configured is a program that outputs its configuration.
const configured = `
configuration:
  size: {type: Number}
  zone: {type: String}
resources:
  a:
    type: lab:index:Thing
    properties: {name: a, value: "${zone}"}
outputs:
  size: ${size}
`

func TestAChangedConfigMapStartsARun(t *testing.T) {
	t.Parallel()
	u := newTenant(t, shared)
	u.apply(u.program(configured))
	stack := u.stack(fromProgram, func(s *v1.Stack) {
		s.Spec.ConfigRef = map[string]v1.ConfigMapRef{
			"app:size": {Name: "settings", Key: "size", JSON: true}, "zone": {Name: "settings", Key: "zone"},
		}
	})
	u.apply(stack)
	u.awaitFailure(stack, v1.InputsFailedReason, "spec.configRef.app:size: ConfigMap '"+u.namespace+"/settings' not found")

	settings := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "settings"}, Data: map[string]string{"size": "3", "zone": "a"}}
	u.apply(settings)
	u.awaitReady(stack)
	u.Expect(stack.Status.Outputs["size"].Raw).To(MatchJSON("3"))
	u.kept("app", "a")

	edit(u, settings, func(c *corev1.ConfigMap) { c.Data["zone"] = "b" })
	u.Eventually(u.things).Should(Equal(map[string]string{"a": "b"}))
	u.awaitReady(stack)

	edit(u, settings, func(c *corev1.ConfigMap) { c.Data["size"] = "three" })
	u.awaitFailure(stack, v1.InputsFailedReason, `the value of key "size" in ConfigMap '`+u.namespace+"/settings' is not valid JSON")
	edit(u, settings, func(c *corev1.ConfigMap) { c.Data["size"] = "4" })
	u.awaitReady(stack)
	u.Expect(stack.Status.Outputs["size"].Raw).To(MatchJSON("4"))

	calls, before := len(u.pulumiCalls()), u.reconcilesOf(stack)
	edit(u, settings, func(c *corev1.ConfigMap) { c.Data["unrelated"] = "x" })
	u.Eventually(func() int { return u.reconcilesOf(stack) }).Should(BeNumerically(">", before))
	u.Expect(u.pulumiCalls()).To(HaveLen(calls), "a value that is not referred to is no input")
}
