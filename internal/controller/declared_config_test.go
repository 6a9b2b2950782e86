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

func TestConfigOfATypeThatTheProgramDoesNotDeclareIsRefused(t *testing.T) {
	plain := func(value string) func(*v1.StackSpec) {
		return func(s *v1.StackSpec) { s.Config = map[string]apiextensionsv1.JSON{"app:v": jsonOf(value)} }
	}
	listed := map[string]any{"type": "array", "items": map[string]any{"type": "string"}}
	for name, test := range map[string]struct {
		section      string
		declared     map[string]any
		change       func(*v1.StackSpec)
		reason, want string
	}{
		"an integer":  {"config", map[string]any{"type": "integer"}, plain(`3.7`), v1.InvalidSpecReason, "spec.config.app:v: must be of the type integer, as declared by the Program"},
		"a list":      {"config", listed, plain(`["x",{"a":1}]`), v1.InvalidSpecReason, "spec.config.app:v: must be of the type array<string>"},
		"a secret":    {"config", map[string]any{"type": "boolean"}, func(s *v1.StackSpec) { s.Secrets = map[string]string{"v": "canary-yes"} }, v1.InvalidSpecReason, "spec.secrets.v: must be of the type boolean"},
		"a ConfigMap": {"config", listed, func(s *v1.StackSpec) { s.ConfigRef = map[string]v1.ConfigMapRef{"v": {Name: "app", Key: "word"}} }, v1.InputsFailedReason, "spec.configRef.v: must be of the type array<string>, as declared by the Program: set json"},
		"a ConfigMap in JSON": {"config", listed, func(s *v1.StackSpec) {
			s.ConfigRef = map[string]v1.ConfigMapRef{"v": {Name: "app", Key: "list", JSON: true}}
		}, "", ""},
		"JSON in a text":                   {"config", listed, func(s *v1.StackSpec) { s.ConfigRef = map[string]v1.ConfigMapRef{"v": {Name: "app", Key: "list"}} }, "", ""},
		"a type that only Pulumi YAML has": {"config", map[string]any{"type": "Boolean"}, plain(`"T"`), "", ""},
		"a secret one":                     {"config", map[string]any{"type": "integer", "secret": true}, plain(`"canary-no"`), v1.InvalidSpecReason, "spec.config.app:v: must be of the type integer"},
		"configuration":                    {"configuration", map[string]any{"type": "Integer"}, plain(`"no"`), "", ""},
		"one that fits":                    {"config", map[string]any{"type": "integer"}, plain(`5`), "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			w := optionsWorld(t, test.change)
			w.settings("app", map[string]string{"list": `["a"]`, "word": "a"}, nil)
			w.says(map[string]any{test.section: map[string]any{"v": test.declared}})
			w.mustReconcile()
			if test.want == "" {
				g.Expect(w.runner.started).To(Equal(1))
				return
			}
			g.Expect(conditions.GetReason(w.stack(), meta.ReadyCondition)).To(Equal(test.reason))
			g.Expect(conditions.GetMessage(w.stack(), meta.ReadyCondition)).To(And(HavePrefix(test.want), Not(ContainSubstring("canary"))))
			g.Expect(w.runner.started).To(BeZero())
		})
	}
}

func TestConfigThatTheProgramRequiresIsNamed(t *testing.T) {
	given := func(key string) func(*v1.StackSpec) {
		return func(s *v1.StackSpec) { s.Config = map[string]apiextensionsv1.JSON{key: jsonOf(`"x"`)} }
	}
	for name, test := range map[string]struct {
		declared map[string]any
		change   func(*v1.StackSpec)
		want     string
	}{
		"nothing":            {map[string]any{"type": "String"}, given("other"), "spec.config.v: is required: the Program declares it without a default"},
		"a secret":           {map[string]any{"type": "String", "secret": true}, given("other"), "spec.secretsRef.v: is required"},
		"its own name":       {map[string]any{"type": "String", "name": "key"}, given("v"), "spec.config.key: is required"},
		"that of a provider": {map[string]any{"type": "String", "name": "lab:directory"}, given("v"), "spec.config.lab:directory: is required"},
		"given":              {map[string]any{"type": "String"}, given("app:v"), ""},
		"with a default":     {map[string]any{"type": "String", "default": "x"}, given("other"), ""},
		"with a value":       {map[string]any{"value": "x"}, given("other"), ""},
		"of the Program":     {map[string]any{"type": "String", "name": "aws:region"}, given("other"), ""},
		"of Pulumi Cloud":    {map[string]any{"type": "String"}, func(s *v1.StackSpec) { s.Backend = "https://api.pulumi.com" }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			w := optionsWorld(t, test.change)
			w.says(map[string]any{"configuration": map[string]any{"v": test.declared}, "config": map[string]any{"aws:region": map[string]any{"value": "x"}}})
			w.mustReconcile()
			if test.want == "" {
				g.Expect(w.runner.started).To(Equal(1), conditions.GetMessage(w.stack(), meta.ReadyCondition))
				return
			}
			g.Expect(conditions.GetReason(w.stack(), meta.ReadyCondition)).To(Equal(v1.InvalidSpecReason))
			g.Expect(conditions.GetMessage(w.stack(), meta.ReadyCondition)).To(HavePrefix(test.want))
			g.Expect(w.runner.started).To(BeZero())
		})
	}
}

// A Program cannot know the project of its Stacks.
func TestANamespaceThatIsNotTheProjectIsAProviders(t *testing.T) {
	for name, test := range map[string]struct {
		declared map[string]any
		stack    string
		config   map[string]any
		want     string
	}{
		"the default of the project":       {declared: map[string]any{"default": 2}, stack: "organization/other/dev"},
		"the default of a provider":        {declared: map[string]any{"default": 2}, stack: "dev", want: `Program default/app is not valid: program.config["other:size"].default: does not reach the provider`},
		"the typed value of the project":   {declared: map[string]any{"type": "Number", "value": 2}, stack: "organization/other/dev", config: map[string]any{}},
		"the typed value of a provider":    {declared: map[string]any{"type": "Number", "value": 2}, stack: "dev", config: map[string]any{"other:size": 2.0}},
		"an expression of the project":     {declared: map[string]any{"type": "string", "value": "${pulumi.stack}"}, stack: "organization/other/dev", config: map[string]any{}},
		"an expression for a provider":     {declared: map[string]any{"type": "string", "value": "${pulumi.stack}"}, stack: "dev", want: `program.config["other:size"].value: is an expression`},
		"what a Stack gives to a provider": {declared: map[string]any{"type": "string"}, stack: "dev", want: "spec.config.other:size: is required"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			w := optionsWorld(t, func(s *v1.StackSpec) { s.Stack = test.stack })
			w.says(map[string]any{"config": map[string]any{"other:size": test.declared}})
			w.mustReconcile()
			if test.want != "" {
				g.Expect(conditions.GetMessage(w.stack(), meta.ReadyCondition)).To(ContainSubstring(test.want))
				g.Expect(w.runner.started).To(BeZero())
				return
			}
			g.Expect(w.runner.started).To(Equal(1))
			if test.config != nil {
				g.Expect(w.runner.runs[w.stack().Status.Run.ID].Program.Config).To(BeComparableTo(test.config))
			}
		})
	}
}
