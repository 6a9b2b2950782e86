// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"testing"

	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

func TestConfigThatTheProgramDeclaresSecretIsSecret(t *testing.T) {
	g := NewWithT(t)
	w := optionsWorld(t, func(s *v1.StackSpec) {
		s.Config = map[string]apiextensionsv1.JSON{
			"text": jsonOf(`"canary-\"text"`), "list": jsonOf(`["canary-list", 1]`), "app:number": jsonOf(`123456789.5`),
			"given": jsonOf(`"canary-given"`), "lab:directory": jsonOf(`"canary-directory"`), "plain": jsonOf(`"shown"`),
		}
		s.ConfigRef = map[string]v1.ConfigMapRef{"map": {Name: "app", Key: "map"}}
	})
	w.settings("app", map[string]string{"map": "canary-map"}, nil)
	secret := func(kind string) map[string]any { return map[string]any{"type": kind, "secret": true} }
	named := secret("String")
	named["name"] = "given"
	w.says(map[string]any{
		"config":        map[string]any{"text": secret("string"), "list": secret("List<String>"), "number": secret("Number"), "lab:directory": secret("string")},
		"configuration": map[string]any{"map": secret("String"), "known": named, "plain": map[string]any{"type": "String", "secret": false}},
	})
	w.mustReconcile()
	todo := w.runner.runs[w.stack().Status.Run.ID]
	g.Expect(todo.Config).To(HaveLen(1))
	g.Expect(todo.Config).To(HaveKey("plain"))
	g.Expect(todo.Secrets).To(Equal(map[string]string{
		"text": `canary-"text`, "list": `["canary-list",1]`, "app:number": "123456789.5",
		"given": "canary-given", "lab:directory": "canary-directory", "map": "canary-map",
	}))
	for _, value := range todo.Secrets {
		g.Expect(todo.Masks).To(ContainElement(value))
	}
}
