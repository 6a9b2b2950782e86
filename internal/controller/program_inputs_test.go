// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"testing"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

const fileAsText = `{"4dabf18193072939515e22adb298388d":"c44067f5952c0a294b673a41bacd8c17","path":"/etc/passwd"}`

func jsonOf(text string) apiextensionsv1.JSON { return apiextensionsv1.JSON{Raw: []byte(text)} }

func TestConfigOfAProgramThatIsAFileIsRefused(t *testing.T) {
	for name, test := range map[string]struct {
		change       func(*v1.StackSpec)
		reason, want string
		notTerminal  bool
	}{
		"config": {
			change: func(s *v1.StackSpec) {
				s.Config = map[string]apiextensionsv1.JSON{"files": jsonOf(`{"deep":[` + fileAsText + `]}`)}
			},
			reason: v1.InvalidSpecReason, want: "spec.config.files: is, or holds, what Pulumi would take for an asset"},
		"a text that is JSON": {
			change: func(s *v1.StackSpec) {
				s.Config = map[string]apiextensionsv1.JSON{"file": jsonOf(`"{\"\\u0034dabf18193072939515e22adb298388d\": \"x\"}"`)}
			},
			reason: v1.InvalidSpecReason, want: "spec.config.file: "},
		"a ConfigMap": {
			change: func(s *v1.StackSpec) {
				s.ConfigRef = map[string]v1.ConfigMapRef{"file": {Name: "app", Key: "file"}}
			},
			reason: v1.InputsFailedReason, want: "spec.configRef.file: ", notTerminal: true},
		"JSON in a ConfigMap": {
			change: func(s *v1.StackSpec) {
				s.ConfigRef = map[string]v1.ConfigMapRef{"file": {Name: "app", Key: "file", JSON: true}}
			},
			reason: v1.InputsFailedReason, want: "spec.configRef.file: ", notTerminal: true},
		"secrets in the spec": {
			change: func(s *v1.StackSpec) { s.Secrets = map[string]string{"file": fileAsText} },
			reason: v1.InvalidSpecReason, want: "spec.secrets.file: "},
		"a Secret": {
			change: func(s *v1.StackSpec) {
				s.SecretsRef = map[string]v1.ResourceRef{"file": {Type: v1.ResourceRefSecret, Secret: &v1.SecretKeyReference{Name: "app", Key: "file"}}}
			},
			reason: v1.InputsFailedReason, want: "spec.secretsRef.file: ", notTerminal: true},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			w := optionsWorld(t, test.change)
			w.settings("app", map[string]string{"file": fileAsText}, map[string]string{"file": fileAsText})
			w.mustReconcile()
			message := conditions.GetMessage(w.stack(), meta.ReadyCondition)
			g.Expect(conditions.GetReason(w.stack(), meta.ReadyCondition)).To(Equal(test.reason))
			g.Expect(message).To(HavePrefix(test.want))
			g.Expect(message).NotTo(ContainSubstring("passwd"))
			g.Expect(conditions.IsStalled(w.stack())).To(Equal(!test.notTerminal))
			g.Expect(w.runner.started).To(BeZero())
		})
	}
}
