// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"testing"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/inputs"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// settings creates a ConfigMap and a Secret of the same name with these variables.
func (w *world) settings(name string, plain, secret map[string]string) {
	w.t.Helper()
	about := metav1.ObjectMeta{Namespace: "default", Name: name}
	data := map[string][]byte{}
	for key, value := range secret {
		data[key] = []byte(value)
	}
	NewWithT(w.t).Expect(w.Create(context.Background(), &corev1.ConfigMap{ObjectMeta: about, Data: plain})).To(Succeed())
	NewWithT(w.t).Expect(w.Create(context.Background(), &corev1.Secret{ObjectMeta: about, Data: data})).To(Succeed())
}

func TestDeprecatedInputsReachTheRun(t *testing.T) {
	g := NewWithT(t)
	w := optionsWorld(t, func(s *v1.StackSpec) {
		s.Envs, s.EnvSecrets, s.AccessTokenSecret = []string{"app"}, []string{"app"}, "app"
		s.Secrets = map[string]string{"pw": "hunter2hunter2"}
		s.SecretsProvider, s.UseLocalStackOnly = "passphrase", true
		s.UpdateTemplate = &apiextensionsv1.JSON{Raw: []byte(`{"spec":{"remove":true}}`)}
	})
	w.settings("app", map[string]string{"A": "plain", "not.one": "x"}, map[string]string{"B": "secret-b", "accessToken": "pul-token"})
	w.mustReconcile()
	todo := w.runner.runs[w.stack().Status.Run.ID]
	g.Expect(todo.Env).To(And(HaveKeyWithValue("A", "plain"), HaveKeyWithValue("B", "secret-b"), HaveKeyWithValue("PULUMI_ACCESS_TOKEN", "pul-token")))
	g.Expect(todo.Secrets).To(Equal(map[string]string{"pw": "hunter2hunter2"}))
	g.Expect(todo.Masks).To(ContainElements("hunter2hunter2", "secret-b", "pul-token"))
	g.Expect(todo.SecretsProvider).To(Equal("passphrase"))
	g.Expect(todo.NoCreate).To(BeTrue())
}

func TestInputsThatAreRefused(t *testing.T) {
	for name, test := range map[string]struct {
		change         func(*v1.StackSpec)
		plain          map[string]string
		program        map[string]any
		reason, want   string
		notTerminal    bool
		controllerRefs *inputs.Controller
	}{
		"a variable of the controller in a ConfigMap": {
			change: func(s *v1.StackSpec) { s.Envs = []string{"app"} }, plain: map[string]string{"PATH": "/evil"},
			reason: v1.InputsFailedReason, want: "spec.envs[0] (key PATH): the environment variable PATH cannot be set: the controller sets it", notTerminal: true},
		"the same in the spec": {
			change: func(s *v1.StackSpec) { s.EnvRefs = map[string]v1.ResourceRef{"PATH": literalRef("/evil")} },
			reason: v1.InvalidSpecReason, want: "spec.envRefs: the environment variable PATH cannot be set"},
		"a flag of the CLI": {
			change: func(s *v1.StackSpec) {
				s.EnvRefs = map[string]v1.ResourceRef{"PULUMI_OPTION_TARGET": literalRef("urn")}
			},
			reason: v1.InvalidSpecReason, want: "spec.envRefs: the environment variable PULUMI_OPTION_TARGET cannot be set: set spec.targets instead"},
		"a flag of the CLI in a ConfigMap": {
			change: func(s *v1.StackSpec) { s.Envs = []string{"app"} }, plain: map[string]string{"PULUMI_OPTION_EXCLUDE": "urn"},
			reason: v1.InputsFailedReason, want: "spec.envs[0] (key PULUMI_OPTION_EXCLUDE): the environment variable PULUMI_OPTION_EXCLUDE cannot be set", notTerminal: true},
		"two names of one secret config value": {
			change: func(s *v1.StackSpec) {
				s.SecretsRef = map[string]v1.ResourceRef{"pw": literalRef("canary-a"), "app:pw": literalRef("canary-b")}
			},
			reason: v1.InvalidSpecReason, want: "spec.secretsRef.app:pw: is the same config value as spec.secretsRef.pw in the project app: remove one of the two"},
		"two names of one config value in two places": {
			change: func(s *v1.StackSpec) {
				s.Config = map[string]apiextensionsv1.JSON{"app:who": {Raw: []byte(`"a"`)}}
				s.ConfigRef = map[string]v1.ConfigMapRef{"who": {Name: "app", Key: "who"}}
			},
			plain:  map[string]string{"who": "b"},
			reason: v1.InvalidSpecReason, want: "spec.config.app:who: is the same config value as spec.configRef.who"},
		"the old name of a config value beside its own": {
			change: func(s *v1.StackSpec) {
				s.Config = map[string]apiextensionsv1.JSON{"aws:region": {Raw: []byte(`"a"`)}, "aws:config:region": {Raw: []byte(`"b"`)}}
			},
			reason: v1.InvalidSpecReason, want: "spec.config.aws:config:region: is the same config value as spec.config.aws:region"},
		"config by the name of a resource": {
			change: func(s *v1.StackSpec) {
				s.Config = map[string]apiextensionsv1.JSON{"bucket": {Raw: []byte(`"a"`)}}
			},
			program: map[string]any{"resources": map[string]any{"bucket": map[string]any{"type": "a:b:C"}}},
			reason:  v1.InvalidSpecReason,
			want:    "spec.config.bucket: is also the name of a resource of the program: Pulumi YAML would use the config value instead and delete the resource. Rename one"},
		"a secret by the name of a resource, with the project": {
			change:  func(s *v1.StackSpec) { s.Secrets = map[string]string{"app:v": "x"} },
			program: map[string]any{"resources": map[string]any{"v": map[string]any{"type": "a:b:C"}}},
			reason:  v1.InvalidSpecReason, want: "spec.secrets.app:v: is also the name of a resource of the program"},
		"a reference by the name of a resource, with the old form of the project": {
			change: func(s *v1.StackSpec) {
				s.ConfigRef = map[string]v1.ConfigMapRef{"app:config:bucket": {Name: "app", Key: "who"}}
			},
			program: map[string]any{"resources": map[string]any{"bucket": map[string]any{"type": "a:b:C"}}}, plain: map[string]string{"who": "b"},
			reason: v1.InvalidSpecReason, want: "spec.configRef.app:config:bucket: is also the name of a resource"},
		"two kubeconfigs": {
			change: func(s *v1.StackSpec) { s.Envs, s.ServiceAccountName = []string{"app"}, "deployer" }, plain: map[string]string{"KUBECONFIG": "/k"},
			reason: v1.InputsFailedReason, want: "spec.envs[0] (key KUBECONFIG): spec.serviceAccountName already provides a kubeconfig", notTerminal: true},
		"a value of the controller": {
			change: func(s *v1.StackSpec) {
				s.EnvRefs = map[string]v1.ResourceRef{"A": {Type: v1.ResourceRefEnv, Env: &v1.EnvReference{Name: "HOME"}}}
			},
			reason: "AccessDenied", want: "spec.envRefs.A: type Env reads from the controller itself, which is not allowed: use type Secret, or run the controller with --allow-controller-refs"},
		"one that it does not have": {
			change: func(s *v1.StackSpec) {
				s.EnvRefs = map[string]v1.ResourceRef{"A": {Type: v1.ResourceRefEnv, Env: &v1.EnvReference{Name: "GONE"}}}
			},
			controllerRefs: &inputs.Controller{LookupEnv: func(string) (string, bool) { return "", false }},
			reason:         v1.InputsFailedReason, want: `the controller has no environment variable "GONE"`, notTerminal: true},
		"a backend that Pulumi does not have": {
			change: func(s *v1.StackSpec) { s.Backend = "foo://x" },
			reason: v1.InvalidSpecReason, want: "spec.backend: is not the URL of a Pulumi backend, which starts with https://"},
		"a directory that goes with the run": {
			change: func(s *v1.StackSpec) { s.Backend = "file://./state" },
			reason: v1.InvalidSpecReason, want: "spec.backend: is a relative path of a directory"},
		"a variable with such a backend": {
			change: func(s *v1.StackSpec) {
				s.Backend, s.EnvRefs = "", map[string]v1.ResourceRef{"PULUMI_BACKEND_URL": literalRef("foo://x")}
			},
			reason: v1.InvalidSpecReason, want: "spec.envRefs.PULUMI_BACKEND_URL: is not the URL of a Pulumi backend"},
		"a listed variable with such a backend": {
			change: func(s *v1.StackSpec) { s.Backend, s.Envs = "", []string{"app"} }, plain: map[string]string{"PULUMI_BACKEND_URL": "foo://x"},
			reason: v1.InputsFailedReason, want: "spec.envs[0] (key PULUMI_BACKEND_URL): the variable PULUMI_BACKEND_URL is not the URL of a Pulumi backend", notTerminal: true},
		"an organization where there are none": {
			change: func(s *v1.StackSpec) { s.Stack = "acme/app/dev" },
			reason: v1.InvalidSpecReason, want: "spec.stack: stack acme/app/dev: the organization must be 'organization' on the backend file, which has no accounts"},
		"environments of a bucket": {
			change: func(s *v1.StackSpec) { s.Environment = []string{"prod"} },
			reason: v1.InvalidSpecReason, want: "spec.environment: needs Pulumi Cloud, but the Stack has another backend"},
		"a pod": {
			change: func(s *v1.StackSpec) {
				s.WorkspaceTemplate = &apiextensionsv1.JSON{Raw: []byte(`{"spec":{"image":"x"}}`)}
			},
			reason: v1.InvalidSpecReason, want: "spec.workspaceTemplate: configures the pod of a run"},
		"a repository": {
			change: func(s *v1.StackSpec) { s.ProgramRef, s.ProjectRepo = nil, "https://git.example.com/a" },
			reason: v1.InvalidSpecReason, want: "spec.projectRepo: needs a branch or a commit"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			w := optionsWorld(t, test.change)
			w.ControllerRefs = test.controllerRefs
			if test.program != nil {
				w.says(test.program)
			}
			w.settings("app", test.plain, nil)
			w.mustReconcile()
			g.Expect(conditions.GetReason(w.stack(), meta.ReadyCondition)).To(Equal(test.reason))
			g.Expect(conditions.GetMessage(w.stack(), meta.ReadyCondition)).To(And(ContainSubstring(test.want), Not(ContainSubstring("foo://"))))
			g.Expect(conditions.IsStalled(w.stack())).To(Equal(!test.notTerminal))
			g.Expect(w.runner.started).To(BeZero())
		})
	}
}

func literalRef(value string) v1.ResourceRef {
	return v1.ResourceRef{Type: v1.ResourceRefLiteral, Literal: &v1.LiteralValue{Value: value}}
}

func TestAListedKubeconfigTakesThePlaceOfTheDefaultAccount(t *testing.T) {
	g := NewWithT(t)
	w := optionsWorld(t, func(s *v1.StackSpec) { s.EnvSecrets = []string{"app"} })
	w.DefaultServiceAccount = "default"
	w.settings("app", nil, map[string]string{"KUBECONFIG": "/own"})
	w.mustReconcile()
	g.Expect(w.runner.runs[w.stack().Status.Run.ID].Account.Name).To(BeEmpty())
}

func TestADestroyHasTheListedVariablesAndNoSecretConfig(t *testing.T) {
	g := NewWithT(t)
	w := optionsWorld(t, func(s *v1.StackSpec) {
		s.Envs, s.Secrets = []string{"app"}, map[string]string{"pw": "hunter2hunter2"}
	})
	w.settings("app", map[string]string{"A": "plain"}, nil)
	w.mustReconcile()
	w.endRun(run.Succeeded, "", run.Changes{})
	g.Expect(w.Delete(context.Background(), w.stack())).To(Succeed())
	w.mustReconcile()
	destroy := w.runner.runs[w.stack().Status.Run.ID]
	g.Expect(destroy.Operation).To(Equal(run.Destroy))
	g.Expect(destroy.Env).To(HaveKeyWithValue("A", "plain"))
	g.Expect(destroy.Secrets).To(BeEmpty())
}
