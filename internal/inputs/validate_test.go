// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package inputs_test

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
		"complete references": {func(s *v1.StackSpec) {
			s.EnvRefs = refs{"A": literal(""), "B": fromSecret("", "s", "k")}
			s.SecretsRef = refs{"a:b": literal("x")}
		}, ""},
		"no stack": {func(s *v1.StackSpec) { s.Stack = "" }, "spec.stack: is required"},
		"both a source and a program": {func(s *v1.StackSpec) { s.FluxSource = &v1.FluxSource{} },
			"spec: exactly one of fluxSource, programRef and projectRepo is required, and fluxSource and programRef are set: keep only one"},
		"all three": {func(s *v1.StackSpec) { s.FluxSource, s.ProjectRepo = &v1.FluxSource{}, "https://git.example.com/a" },
			"and fluxSource and programRef and projectRepo are set: keep only one"},
		"neither a source nor a program": {func(s *v1.StackSpec) { s.ProgramRef = nil },
			"spec: exactly one of fluxSource, programRef and projectRepo is required, and none is set: add one"},
		"a repository with a branch": {func(s *v1.StackSpec) {
			s.ProgramRef, s.ProjectRepo, s.Branch = nil, "https://git.example.com/a", "main"
		}, ""},
		"a repository without a commit": {func(s *v1.StackSpec) { s.ProgramRef, s.ProjectRepo = nil, "https://git.example.com/a" },
			"spec.projectRepo: needs a branch or a commit: add spec.branch or spec.commit"},
		"a branch and a commit": {func(s *v1.StackSpec) {
			s.ProgramRef, s.ProjectRepo, s.Branch, s.Commit = nil, "https://git.example.com/a", "main", "0123"
		}, "spec: branch and commit cannot both be set: remove one of them"},
		"a branch without a repository": {func(s *v1.StackSpec) { s.Branch = "main" },
			"spec.branch: can only be used with projectRepo: remove it, or use projectRepo for the program"},
		"credentials without a repository": {func(s *v1.StackSpec) { s.GitAuth = &v1.GitAuth{} }, "spec.gitAuth: can only be used with projectRepo"},
		"incomplete credentials": {func(s *v1.StackSpec) {
			s.ProgramRef, s.ProjectRepo, s.Branch = nil, "https://git.example.com/a", "main"
			s.GitAuth = &v1.GitAuth{BasicAuth: &v1.GitBasicAuth{UserName: literal("u"), Password: v1.ResourceRef{Type: v1.ResourceRefSecret}}}
		}, "spec.gitAuth.basicAuth.password: secret is required when type is Secret"},
		"a branch that git cannot have": {func(s *v1.StackSpec) {
			s.ProgramRef, s.ProjectRepo, s.Branch = nil, "https://git.example.com/a", "a..b"
		}, `spec.branch: "a..b" is not a valid name of a git branch`},
		"a reference with fields of another type": {func(s *v1.StackSpec) {
			ref := fromSecret("", "s", "k")
			ref.Literal = &v1.LiteralValue{Value: "CANARY"}
			s.SecretsRef = refs{"a": ref}
		}, "spec.secretsRef.a: literal belongs to type Literal, but the type is Secret: remove it, or change the type"},
		"a directory that leads out of its source": {func(s *v1.StackSpec) {
			s.ProgramRef, s.FluxSource = nil, &v1.FluxSource{SourceRef: v1.SourceReference{Kind: "GitRepository", Name: "a"}, Dir: "infra/../../a"}
		}, "spec.fluxSource.dir: leads out of the source"},
		"a directory that leads out of its repository": {func(s *v1.StackSpec) {
			s.ProgramRef, s.ProjectRepo, s.Branch, s.RepoDir = nil, "https://git.example.com/a", "main", "/../a"
		}, "spec.repoDir: leads out of the source"},
		"a directory from the root of its source": {func(s *v1.StackSpec) {
			s.ProgramRef, s.ProjectRepo, s.Branch, s.RepoDir = nil, "https://git.example.com/a", "main", "/infra/../a/"
		}, ""},
		"config without a key":           {func(s *v1.StackSpec) { s.Config = config{"": {Raw: []byte("1")}} }, "spec.config: has an empty key"},
		"a secret without a config key":  {func(s *v1.StackSpec) { s.SecretsRef = refs{"": literal("CANARY")} }, "spec.secretsRef: has an empty key"},
		"a written secret without a key": {func(s *v1.StackSpec) { s.Secrets = map[string]string{"": "CANARY"} }, "spec.secrets: has an empty key"},
		"config keys of all forms": {func(s *v1.StackSpec) {
			s.Config = config{"a": {Raw: []byte("1")}, "aws:region": {Raw: []byte("1")}, "aws:config:region": {Raw: []byte("1")}, "a b.c-d/é": {Raw: []byte("1")}}
		}, ""},
		"a config key of three parts": {func(s *v1.StackSpec) { s.Config = config{"a:b:c": {Raw: []byte("1")}} },
			"spec.config.a:b:c: is not a config key: use <key> for a value of the project, or <namespace>:<key>"},
		"a config key without a name": {func(s *v1.StackSpec) { s.ConfigRef = map[string]v1.ConfigMapRef{"a:": {Name: "c", Key: "k"}} },
			"spec.configRef.a:: is not a config key"},
		"a config key without a namespace": {func(s *v1.StackSpec) { s.SecretsRef = refs{":a": literal("CANARY")} }, "spec.secretsRef.:a: is not a config key"},
		"a config key of empty parts":      {func(s *v1.StackSpec) { s.Secrets = map[string]string{"::": "CANARY"} }, "spec.secrets.::: is not a config key"},
		"null as config": {func(s *v1.StackSpec) { s.Config = config{"a": {Raw: []byte(" null")}} },
			"spec.config.a: is null, which is not a config value: give it a value, or remove the entry"},
		"null within config": {func(s *v1.StackSpec) { s.Config = config{"a": {Raw: []byte(`[null]`)}} }, ""},
		"config that Pulumi would decrypt": {func(s *v1.StackSpec) { s.Config = config{"a": {Raw: []byte(`{"b":[{"secure":"CANARY"}]}`)}} },
			`spec.config.a: has an object whose only key is "secure", which Pulumi reads as an encrypted value: rename the key`},
		"config with another use of secure": {func(s *v1.StackSpec) {
			s.Config = config{"a": {Raw: []byte(`{"secure":true,"b":{"secure":"x","y":1}}`)}}
		}, ""},
		"a provider in upper case": {func(s *v1.StackSpec) { s.SecretsProvider = "AWSKMS://key" }, "spec.secretsProvider: is not a secrets provider"},
		"outputs with labels and annotations": {func(s *v1.StackSpec) {
			s.WriteOutputsToSecret = &v1.OutputsSecret{Name: "o", Labels: map[string]string{"example.com/a": "b"}, Annotations: map[string]string{"a": "any text"}}
		}, ""},
		"outputs with an invalid name of a label": {func(s *v1.StackSpec) {
			s.WriteOutputsToSecret = &v1.OutputsSecret{Name: "o", Labels: map[string]string{"a b": "x"}}
		}, "spec.writeOutputsToSecret.labels: Invalid value: \"a b\": name part must consist of alphanumeric characters"},
		"outputs with an invalid value of a label": {func(s *v1.StackSpec) {
			s.WriteOutputsToSecret = &v1.OutputsSecret{Name: "o", Labels: map[string]string{"a": strings.Repeat("x", 64)}}
		}, "spec.writeOutputsToSecret.labels: Invalid value: "},
		"outputs with an invalid name of an annotation": {func(s *v1.StackSpec) {
			s.WriteOutputsToSecret = &v1.OutputsSecret{Name: "o", Annotations: map[string]string{"a b": "x"}}
		}, "spec.writeOutputsToSecret.annotations: Invalid value: \"a b\": name part must consist of alphanumeric characters"},
		"a name that is too long": {func(s *v1.StackSpec) { s.Stack = strings.Repeat("x", 301) }, "spec.stack: is longer than 300 bytes"},
		"a workspace of the operator": {func(s *v1.StackSpec) {
			s.ProgramRef, s.WorkspaceTemplate = nil, &apiextensionsv1.JSON{Raw: []byte(`{"spec":{"image":"x"}}`)}
		}, "spec.workspaceTemplate: configures the pod of a run, but this controller runs programs itself: run it with --runner=job, or remove the template"},
		"a policy for the pod":                {func(s *v1.StackSpec) { s.WorkspaceReclaimPolicy = "Delete" }, ""},
		"an unknown policy":                   {func(s *v1.StackSpec) { s.WorkspaceReclaimPolicy = "Keep" }, `spec.workspaceReclaimPolicy: is "Keep", but the controller keeps no workspaces: remove it`},
		"pending creates":                     {func(s *v1.StackSpec) { s.PendingCreates = "Import" }, `spec.pendingCreates: is "Import", but must be Stop or Clear`},
		"the passphrase provider":             {func(s *v1.StackSpec) { s.SecretsProvider = "passphrase" }, ""},
		"the default provider of the backend": {func(s *v1.StackSpec) { s.SecretsProvider = "default" }, ""},
		"the URL of a key":                    {func(s *v1.StackSpec) { s.SecretsProvider = "awskms://alias/a?region=eu-west-1" }, ""},
		"an unknown provider": {func(s *v1.StackSpec) { s.SecretsProvider = "b64://x" },
			"spec.secretsProvider: is not a secrets provider of Pulumi: use passphrase, default, or the URL of a key"},
		"a provider without a key": {func(s *v1.StackSpec) { s.SecretsProvider = "awskms" }, "spec.secretsProvider: is not a secrets provider of Pulumi"},
		"a provider with a password": {func(s *v1.StackSpec) { s.SecretsProvider = "hashivault://u:CANARY@key" },
			"spec.secretsProvider: contains a user or a password, which anyone who can read the Stack would see"},
		"a ConfigMap without a name": {func(s *v1.StackSpec) { s.Envs = []string{"a", ""} }, "spec.envs[1]: is empty: give the name of a ConfigMap"},
		"a Secret without any name":  {func(s *v1.StackSpec) { s.EnvSecrets = []string{""} }, "spec.envSecrets[0]: is empty"},
		"an empty environment":       {func(s *v1.StackSpec) { s.Environment = []string{""} }, "spec.environment[0]: is empty"},
		"an empty target":            {func(s *v1.StackSpec) { s.Targets = []string{""} }, "spec.targets[0]: is empty"},
		"a negative interval": {func(s *v1.StackSpec) { s.Interval = &metav1.Duration{Duration: -1} },
			"spec.interval: is negative: give a positive time, or remove it for the default"},
		"a timeout that could not be read": {func(s *v1.StackSpec) { s.Timeout = &metav1.Duration{Duration: v1.UnreadableDuration} },
			"spec.timeout: is not a valid duration: give one such as 30s, 5m or 1h30m, of at most 99999h"},
		"a prerequisite whose age could not be read": {func(s *v1.StackSpec) {
			s.Prerequisites = []v1.PrerequisiteReference{{Name: "a"}, {Name: "b", Requirement: &v1.PrerequisiteRequirement{
				SucceededWithinDuration: &metav1.Duration{Duration: v1.UnreadableDuration}}}}
		}, "spec.prerequisites[1].requirement.succeededWithinDuration: is not a valid duration"},
		"a negative timeout": {func(s *v1.StackSpec) { s.Timeout = &metav1.Duration{Duration: -1} }, "spec.timeout: is negative"},
		"a negative bound":   {func(s *v1.StackSpec) { s.RetryMaxBackoffDurationSeconds = -1 }, "spec.retryMaxBackoffDurationSeconds: is negative"},
		"a secret that is written twice": {func(s *v1.StackSpec) {
			s.Secrets, s.SecretsRef = map[string]string{"a": "CANARY"}, refs{"a": literal("CANARY")}
		}, "spec.secrets.a: spec.secretsRef has the same key: remove one of the two"},
		"a secret that is config as well": {func(s *v1.StackSpec) {
			s.Secrets, s.Config = map[string]string{"a": "CANARY"}, config{"a": {Raw: []byte("1")}}
		}, "spec.secrets.a: spec.config has the same key"},
		"a secret in a ConfigMap as well": {func(s *v1.StackSpec) {
			s.SecretsRef, s.ConfigRef = refs{"a": literal("CANARY")}, map[string]v1.ConfigMapRef{"a": {Name: "c", Key: "k"}}
		}, "spec.secretsRef.a: spec.configRef has the same key"},
		"a Secret without its name": {func(s *v1.StackSpec) { s.EnvRefs = refs{"A": {Type: v1.ResourceRefSecret}} },
			"spec.envRefs.A: secret is required when type is Secret: add secret.name and secret.key"},
		"a Secret without a key": {func(s *v1.StackSpec) { s.EnvRefs = refs{"A": fromSecret("", "s", "")} },
			"spec.envRefs.A: secret.name and secret.key are required"},
		"a Literal with a Secret in its place": {func(s *v1.StackSpec) {
			ref := fromSecret("", "s", "k")
			ref.Type = v1.ResourceRefLiteral
			s.SecretsRef = refs{"a:b": ref}
		}, "spec.secretsRef.a:b: literal is required when type is Literal: add literal.value"},
		"an unknown type": {func(s *v1.StackSpec) { s.EnvRefs = refs{"A": {Type: "Vault"}} },
			`spec.envRefs.A: type "Vault" is not supported: use Secret, Literal, Env or FS`},
		"a variable and a file of the controller": {func(s *v1.StackSpec) { s.EnvRefs = refs{"A": fromEnv("X"), "B": fromFile("/x")} }, ""},
		"no variable of the controller": {func(s *v1.StackSpec) { s.EnvRefs = refs{"A": {Type: "Env"}} },
			"spec.envRefs.A: env is required when type is Env: add env.name"},
		"no file of the controller": {func(s *v1.StackSpec) { s.EnvRefs = refs{"A": {Type: "FS"}} },
			"spec.envRefs.A: filesystem is required when type is FS: add filesystem.path"},
		"a file with a relative path": {func(s *v1.StackSpec) { s.EnvRefs = refs{"A": fromFile("a/b")} }, "spec.envRefs.A: filesystem.path must be absolute"},
		"the backend from the controller": {func(s *v1.StackSpec) { s.EnvRefs = refs{"PULUMI_BACKEND_URL": fromEnv("X")} },
			"spec.envRefs.PULUMI_BACKEND_URL: the backend cannot be read from the controller: set spec.backend, or use type Secret"},
		"no type":                     {func(s *v1.StackSpec) { s.EnvRefs = refs{"A": {Literal: &v1.LiteralValue{}}} }, `spec.envRefs.A: type "" is not supported`},
		"a variable that is null":     {func(s *v1.StackSpec) { s.EnvRefs = refs{"A": {}} }, "spec.envRefs.A: is null or empty: give it a value, or remove the entry"},
		"a secret that is null":       {func(s *v1.StackSpec) { s.SecretsRef = refs{"a": {}} }, "spec.secretsRef.a: is null or empty"},
		"a ConfigMap that is null":    {func(s *v1.StackSpec) { s.ConfigRef = map[string]v1.ConfigMapRef{"a": {}} }, "spec.configRef.a: is null or empty"},
		"a config value that is null": {func(s *v1.StackSpec) { s.Config = map[string]apiextensionsv1.JSON{"a": {}} }, "spec.config.a: is null, which is not a config value"},
		"an invalid name of a variable": {func(s *v1.StackSpec) { s.EnvRefs = refs{"A=B": literal("")} },
			`spec.envRefs: "A=B" is not a valid name of an environment variable`},
		"a variable with a period": {func(s *v1.StackSpec) { s.EnvRefs = refs{"my.var": literal("")} },
			`spec.envRefs: "my.var" is not a valid name of an environment variable (letters, digits and underscores`},
		"a variable that begins with a digit": {func(s *v1.StackSpec) { s.EnvRefs = refs{"9LIVES": literal("")} }, `spec.envRefs: "9LIVES" is not a valid name`},
		"a variable without a name": {func(s *v1.StackSpec) { s.EnvRefs = refs{"": literal("")} },
			`spec.envRefs: "" is not a valid name of an environment variable`},
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
			g.Expect(err.Error()).NotTo(ContainSubstring("CANARY"))
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
	stack := stackOf(refs{"A": fromSecret("", "b", "k")}, nil, nil)
	stack.Spec.EnvSecrets, stack.Spec.AccessTokenSecret = []string{"c", "b"}, "a"
	g.Expect(inputs.SecretRefs(stack)).To(Equal([]types.NamespacedName{
		{Namespace: "apps", Name: "a"}, {Namespace: "apps", Name: "b"}, {Namespace: "apps", Name: "c"},
	}))
}
