// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package manifests

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// refusal is a manifest and the error of the API server.
type refusal struct {
	name, text, message string
}

func testRefused(t *testing.T, server *api) {
	namespace := server.namespace(t)
	for _, test := range refusedStacks() {
		t.Run(test.name, func(t *testing.T) { server.refuses(t, namespace, stack(t, test.text), test.message) })
	}
	for _, test := range refusedPrograms() {
		t.Run(test.name, func(t *testing.T) { server.refuses(t, namespace, program(t, test.text), test.message) })
	}
	t.Run("without strict validation a field that is not known is dropped, and no source is left", func(t *testing.T) {
		object := stack(t, "{stack: o/p/dev, projectRepository: https://example.com/repo}")
		object.SetNamespace(namespace)
		NewWithT(t).Expect(server.lenient.Create(t.Context(), object)).To(MatchError(ContainSubstring(oneSource)))
	})
	t.Run("a server-side apply names a field that is not known", func(t *testing.T) {
		object := stack(t, "{stack: dev, programRef: {name: p}, projectRepository: https://example.com/repo}")
		object.SetNamespace(namespace)
		object.SetGenerateName("")
		object.SetName("applied")
		err := server.strict.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(object), client.FieldOwner("test"))
		NewWithT(t).Expect(err).To(MatchError(ContainSubstring(".spec.projectRepository: field not declared in schema")))
	})
}

func (a *api) refuses(t *testing.T, namespace string, object *unstructured.Unstructured, message string) {
	t.Helper()
	g := NewWithT(t)
	object.SetNamespace(namespace)
	err := a.strict.Create(t.Context(), object)
	g.Expect(err).To(MatchError(ContainSubstring(message)))
	g.Expect(apierrors.IsInvalid(err) || apierrors.IsBadRequest(err)).To(BeTrue(), "%v", err)
}

const oneSource = "exactly one of fluxSource, programRef and projectRepo is required"

func refusedStacks() []refusal {
	const durations = "must be a duration such as 30s, 5m or 1h30m, of at most 99999h"
	return []refusal{
		{"two sources", "{stack: dev, programRef: {name: p}, fluxSource: {sourceRef: {kind: Bucket, name: b}}}", oneSource},
		{"no source", "{stack: dev}", oneSource},
		{"no stack", "{programRef: {name: p}}", "spec.stack: Required value"},
		{"an approval of no digest", "{stack: dev, programRef: {name: p}, approval: {require: Always, approved: main@sha1:abc}}", "must be the digest of a plan"},
		{"what only a preview has", "{stack: dev, programRef: {name: p}, previewOf: {name: network}}",
			"previewOf belongs to a Stack with preview: true: set preview, or remove previewOf"},
		{"a preview of no Stack", "{stack: dev, programRef: {name: p}, preview: true, previewOf: {namespace: apps}}", "spec.previewOf.name: Required value"},
		{"previews in what is no namespace", "{stack: dev, programRef: {name: p}, approval: {previewNamespaces: [previews, '*']}}", "must be names of namespaces"},
		{"previews in too many namespaces", "{stack: dev, programRef: {name: p}, approval: {previewNamespaces: [a, b, c, d, e, f, g, h, i, j, k]}}", "must have at most 10 items"},
		{"an empty stack", "{stack: '', programRef: {name: p}}", "spec.stack: Invalid value: \"\": spec.stack in body should be at least 1 chars long"},
		{"a stack name that is too long", "{stack: " + strings.Repeat("a", 301) + ", programRef: {name: p}}", "spec.stack: Too long: may not be more than 300"},
		{"a kind that is no source of programs", "{stack: dev, fluxSource: {sourceRef: {kind: HelmRepository, name: h}}}",
			`spec.fluxSource.sourceRef.kind: Unsupported value: "HelmRepository": supported values: "GitRepository", "OCIRepository", "Bucket", "ExternalArtifact"`},
		{"a source without a name", "{stack: dev, fluxSource: {sourceRef: {kind: Bucket}}}", "spec.fluxSource.sourceRef.name: Required value"},
		{"a Program without a name", "{stack: dev, programRef: {name: ''}}", "spec.programRef.name in body should be at least 1 chars long"},
		{"a value from a Secret without the Secret", "{stack: dev, programRef: {name: p}, envRefs: {A: {type: Secret}}}",
			"spec.envRefs[A]: Invalid value: secret is required when type is Secret"},
		{"a secret config value from a Secret without the Secret", "{stack: dev, programRef: {name: p}, secretsRef: {a: {type: Secret, literal: {value: x}}}}",
			"spec.secretsRef[a]: Invalid value: secret is required when type is Secret"},
		{"a literal without a value", "{stack: dev, programRef: {name: p}, envRefs: {A: {type: Literal}}}",
			"spec.envRefs[A]: Invalid value: literal is required when type is Literal"},
		{"a key of a Secret that is not named", "{stack: dev, programRef: {name: p}, envRefs: {A: {type: Secret, secret: {name: s}}}}",
			"spec.envRefs.A.secret.key: Required value"},
		{"a variable of the controller that is not named", "{stack: dev, programRef: {name: p}, envRefs: {A: {type: Env}}}",
			"spec.envRefs[A]: Invalid value: env is required when type is Env"},
		{"a file of the controller that is not named", "{stack: dev, programRef: {name: p}, secretsRef: {a: {type: FS, literal: {value: x}}}}",
			"spec.secretsRef[a]: Invalid value: filesystem is required when type is FS"},
		{"a type of reference that is not known", "{stack: dev, programRef: {name: p}, envRefs: {A: {type: Vault}}}",
			`spec.envRefs.A.type: Unsupported value: "Vault": supported values: "Secret", "Literal", "Env", "FS"`},
		{"an interval in days", "{stack: dev, programRef: {name: p}, interval: 1d}", `spec.interval: Invalid value: "1d": ` + durations},
		{"an interval without a unit", "{stack: dev, programRef: {name: p}, interval: '60'}", `spec.interval: Invalid value: "60": ` + durations},
		{"an interval that is a number", "{stack: dev, programRef: {name: p}, interval: 60}", `spec.interval: Invalid value: "integer"`},
		{"a retry interval below zero", "{stack: dev, programRef: {name: p}, retryInterval: -5m}", `spec.retryInterval: Invalid value: "-5m": ` + durations},
		{"a timeout that Go has no place for", "{stack: dev, programRef: {name: p}, timeout: 2562048h}", `spec.timeout: Invalid value: "2562048h": ` + durations},
		{"an interval that Go has no place for", "{stack: dev, programRef: {name: p}, interval: 9999999999999h}", `spec.interval: Invalid value: "9999999999999h": ` + durations},
		{"a retry interval of too many parts", "{stack: dev, programRef: {name: p}, retryInterval: " + strings.Repeat("99999h", 9) + "}", durations},
		{"a prerequisite of longer ago than Go can tell", "{stack: dev, programRef: {name: p}, prerequisites: [{name: a, requirement: {succeededWithinDuration: 2562048h}}]}",
			"spec.prerequisites[0].requirement.succeededWithinDuration: Invalid value: \"2562048h\": " + durations},
		{"an interval below zero", "{stack: dev, programRef: {name: p}, interval: -1s}", `spec.interval: Invalid value: "-1s": ` + durations},
		{"the name of a service account that none can have", "{stack: dev, programRef: {name: p}, serviceAccountName: ../admin}",
			"spec.serviceAccountName: Invalid value: \"../admin\": must be the name of a service account: lower-case letters"},
		{"a key of a ConfigMap that is not named", "{stack: dev, programRef: {name: p}, configRef: {a: {name: c}}}",
			"spec.configRef.a.key: Required value"},
		{"a ConfigMap without a name", "{stack: dev, programRef: {name: p}, configRef: {a: {name: '', key: k}}}",
			"spec.configRef.a.name in body should be at least 1 chars long"},
		{"a ConfigMap of another namespace", "{stack: dev, programRef: {name: p}, configRef: {a: {namespace: other, name: c, key: k}}}",
			`unknown field "spec.configRef.a.namespace"`},
		{"an empty timeout", "{stack: dev, programRef: {name: p}, timeout: ''}", `spec.timeout: Invalid value: "": ` + durations},
		{"a dependency without a name", "{stack: dev, programRef: {name: p}, dependsOn: [{namespace: a}]}", "spec.dependsOn[0].name: Required value"},
		{"a prerequisite without a name", "{stack: dev, programRef: {name: p}, prerequisites: [{name: ''}]}", "spec.prerequisites[0].name in body should be at least 1 chars long"},
		{"a prerequisite that can never be new enough", "{stack: dev, programRef: {name: p}, prerequisites: [{name: a, requirement: {succeededWithinDuration: 0s}}]}", "must be longer than 0s"},
		{"a prerequisite of another namespace", "{stack: dev, programRef: {name: p}, prerequisites: [{name: a, namespace: b}]}", `unknown field "spec.prerequisites[0].namespace"`},
		{"a field that is not known", "{stack: dev, programRef: {name: p}, projectRepository: https://example.com/repo}",
			`strict decoding error: unknown field "spec.projectRepository"`},
		{"a repository and a Program", "{stack: dev, programRef: {name: p}, projectRepo: https://example.com/repo, branch: main}", oneSource},
		{"a branch and a commit", "{stack: dev, projectRepo: https://example.com/repo, branch: main, commit: " + strings.Repeat("a", 40) + "}",
			"branch and commit cannot both be set: remove one of them"},
		{"a repository with neither", "{stack: dev, projectRepo: https://example.com/repo}", "projectRepo needs a branch or a commit: add one"},
		{"a branch of no repository", "{stack: dev, programRef: {name: p}, branch: main}", "belong to projectRepo: remove them, or add projectRepo"},
		{"a commit that is a part of its hash", "{stack: dev, projectRepo: https://example.com/repo, commit: abc1234}", `spec.commit: Invalid value: "abc1234": must be the full hash of a commit, of 40 or 64 hexadecimal digits`},
		{"outputs to a Secret without a name", "{stack: dev, programRef: {name: p}, writeOutputsToSecret: {keys: [a]}}", "spec.writeOutputsToSecret.name: Required value"},
		{"outputs to a Secret of a name that none can have", "{stack: dev, programRef: {name: p}, writeOutputsToSecret: {name: My_Outputs}}",
			"spec.writeOutputsToSecret.name in body should match"},
		{"a stack of four parts", "{stack: a/b/c/d, programRef: {name: p}}", `spec.stack: Invalid value: "a/b/c/d": must be <stack>, <org>/<stack> or <org>/<project>/<stack>`},
		{"a stack with a space", "{stack: my dev, programRef: {name: p}}", `spec.stack: Invalid value: "my dev": must be <stack>`},
		{"a stack with a part that is too long", "{stack: a/" + strings.Repeat("b", 101) + ", programRef: {name: p}}", "each of at most 100 letters"},
		{"a stack of no part", "{stack: a/, programRef: {name: p}}", `spec.stack: Invalid value: "a/": must be <stack>`},
		{"a backend that Pulumi does not have", "{stack: dev, programRef: {name: p}, backend: 'foo://x'}", `spec.backend: Invalid value: "foo://x": must be a URL that begins with https://`},
		{"a backend that goes with the run", "{stack: dev, programRef: {name: p}, backend: 'file://./state'}", "spec.backend: Invalid value: \"file://./state\": is a relative path of a directory"},
		{"a backend that is a path", "{stack: dev, programRef: {name: p}, backend: ./state}", "spec.backend: Invalid value"},
		{"a secrets provider that Pulumi does not have", "{stack: dev, programRef: {name: p}, secretsProvider: 'vault://x'}", `spec.secretsProvider: Invalid value: "vault://x": must be passphrase, default, or the URL of a key`},
		{"a secrets provider with a password", "{stack: dev, programRef: {name: p}, secretsProvider: 'awskms://u:pw@key'}", "contains a user or a password, which anyone who can read the Stack would see: set credentials in envRefs"},
		{"a secrets provider that only begins as one", "{stack: dev, programRef: {name: p}, secretsProvider: passphrases}", "spec.secretsProvider: Invalid value"},
		{"a secret that is written twice", "{stack: dev, programRef: {name: p}, secrets: {a: x}, secretsRef: {a: {type: Literal, literal: {value: x}}}}", "secrets and secretsRef have the same key: remove one of the two"},
		{"a secret in a ConfigMap as well", "{stack: dev, programRef: {name: p}, secrets: {a: x}, configRef: {a: {name: c, key: k}}}", "secrets and configRef have the same key"},
		{"a secret reference in a ConfigMap as well", "{stack: dev, programRef: {name: p}, secretsRef: {a: {type: Literal, literal: {value: x}}}, configRef: {a: {name: c, key: k}}}", "secretsRef and configRef have the same key"},
		{"a secret config value without a key", "{stack: dev, programRef: {name: p}, secretsRef: {'': {type: Literal, literal: {value: x}}}}", "has an empty key: give the config value a name"},
		{"a written secret without a key", "{stack: dev, programRef: {name: p}, secrets: {'': x}}", "has an empty key: give the config value a name"},
		{"a variable with a period", "{stack: dev, programRef: {name: p}, envRefs: {my.var: {type: Literal, literal: {value: x}}}}", "the name of an environment variable must consist of letters, digits and underscores, and must not start with a digit"},
		{"a variable that begins with a digit", "{stack: dev, programRef: {name: p}, envRefs: {9LIVES: {type: Literal, literal: {value: x}}}}", "the name of an environment variable must consist of letters"},
		{"a variable without a name", "{stack: dev, programRef: {name: p}, envRefs: {'': {type: Literal, literal: {value: x}}}}", "the name of an environment variable must consist of letters"},
		{"a config key of three parts", "{stack: dev, programRef: {name: p}, configRef: {'a:b:c': {name: c, key: k}}}", "has a key that is not a config key: use <key> for a value of the project"},
		{"a secret config key without a namespace", "{stack: dev, programRef: {name: p}, secretsRef: {':a': {type: Literal, literal: {value: x}}}}", "has a key that is not a config key"},
		{"a written secret config key without a name", "{stack: dev, programRef: {name: p}, secrets: {'a:': x}}", "has a key that is not a config key"},
		{"a reference with more than its type has", "{stack: dev, programRef: {name: p}, envRefs: {A: {type: Literal, literal: {value: x}, secret: {name: s, key: k}}}}",
			"spec.envRefs[A]: Invalid value: secret belongs to type Secret: remove it, or change the type"},
		{"a file of the controller by a relative path", "{stack: dev, programRef: {name: p}, envRefs: {A: {type: FS, filesystem: {path: a/b}}}}", "must be absolute: begin it with /"},
		{"an output that cannot be a key", "{stack: dev, programRef: {name: p}, writeOutputsToSecret: {name: o, keys: [a, 'b c']}}", `spec.writeOutputsToSecret.keys[1]: Invalid value: "b c": cannot be a key of a Secret`},
		{"an output of two periods", "{stack: dev, programRef: {name: p}, writeOutputsToSecret: {name: o, keys: [..]}}", "cannot be a key of a Secret"},
		{"a branch with two periods", "{stack: dev, projectRepo: https://example.com/repo, branch: a..b}", `spec.branch: Invalid value: "a..b": is not a valid name of a git branch`},
		{"a branch with a backslash", `{stack: dev, projectRepo: https://example.com/repo, branch: 'a\b'}`, "is not a valid name of a git branch"},
		{"a branch with a bracket", `{stack: dev, projectRepo: https://example.com/repo, branch: 'a[b'}`, "is not a valid name of a git branch"},
		{"a branch with a space", `{stack: dev, projectRepo: https://example.com/repo, branch: 'a b'}`, "is not a valid name of a git branch"},
		{"a branch that is a lock", `{stack: dev, projectRepo: https://example.com/repo, branch: a.lock}`, "is not a valid name of a git branch"},
		{"a resync frequency below zero", "{stack: dev, programRef: {name: p}, resyncFrequencySeconds: -1}",
			"spec.resyncFrequencySeconds in body should be greater than or equal to 0"},
		{"a variable that is null", "{stack: dev, programRef: {name: p}, envRefs: {A: , B: {type: Literal, literal: {value: x}}}}",
			"spec.envRefs: Invalid value: has an entry that is null, A: give it a value, or remove it"},
		{"a secret config value that is null", "{stack: dev, programRef: {name: p}, secretsRef: {a: }}", "spec.secretsRef: Invalid value: has an entry that is null, a"},
		{"a written secret that is null", "{stack: dev, programRef: {name: p}, secrets: {a: , b: x}}", "spec.secrets: Invalid value: has an entry that is null, a"},
		{"config from ConfigMaps that is null", "{stack: dev, programRef: {name: p}, configRef: {a: }}", "spec.configRef: Invalid value: has an entry that is null, a"},
		{"a label that is null", "{stack: dev, programRef: {name: p}, writeOutputsToSecret: {name: o, labels: {a: }}}",
			"spec.writeOutputsToSecret.labels: Invalid value: has an entry that is null, a"},
		{"an annotation that is null", "{stack: dev, programRef: {name: p}, writeOutputsToSecret: {name: o, annotations: {a: }}}",
			"spec.writeOutputsToSecret.annotations: Invalid value: has an entry that is null, a"},
		{"a value that is null", "{stack: dev, programRef: {name: p}, envRefs: {A: {type: Secret, secret: }}}", "secret is required when type is Secret"},
		{"a ConfigMap in an environment that is null", "{stack: dev, programRef: {name: p}, envs: [null]}", `spec.envs[0]: Invalid value: "null"`},
		{"a reclaim policy that is not known", "{stack: dev, programRef: {name: p}, workspaceReclaimPolicy: Recycle}",
			`spec.workspaceReclaimPolicy: Unsupported value: "Recycle": supported values: "Retain", "Delete"`},
	}
}

func refusedPrograms() []refusal {
	return []refusal{
		{"no program", "null", "program: Required value"},
		{"a resource whose type is null", "{resources: {bucket: {type: }}}", "program.resources.bucket.type: Required value"},
		{"a get whose id is null", "{resources: {bucket: {type: aws:s3:Bucket, get: {id: }}}}", "program.resources.bucket.get.id: Required value"},
		{"an item that is null", "{resources: {b: {type: aws:s3:Bucket, options: {ignoreChanges: [null]}}}}",
			`program.resources.b.options.ignoreChanges[0]: Invalid value: "null"`},
		{"a resource without a type", "{resources: {bucket: {properties: {a: b}}}}", "program.resources.bucket.type: Required value"},
		{"a get without an id", "{resources: {bucket: {type: aws:s3:Bucket, get: {state: {}}}}}", "program.resources.bucket.get.id: Required value"},
		{"a type that is a number", "{resources: {bucket: {type: 5}}}", `program.resources.bucket.type: Invalid value: "integer"`},
		{"a switch that is a text", "{config: {a: {type: String, secret: 'yes'}}}", `program.config.a.secret: Invalid value: "string"`},
		{"options that are no list", "{resources: {b: {type: aws:s3:Bucket, options: {ignoreChanges: x}}}}",
			`program.resources.b.options.ignoreChanges: Invalid value: "string"`},
		{"outputs that are a list", "{outputs: [a]}", `program.outputs: Invalid value: "array"`},
	}
}
