// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package manifests

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func testAccepted(t *testing.T, server *api) {
	namespace := server.namespace(t)
	for _, test := range []struct{ name, spec string }{
		{"the name of a stack alone", "{stack: dev, programRef: {name: p}}"},
		{"a stack with its organization", "{stack: acme/dev, programRef: {name: p}}"},
		{"a stack with organization and project", "{stack: organization/app/dev, programRef: {name: p}}"},
		{"a version of the source that is no longer served", "{stack: dev, fluxSource: {sourceRef: {apiVersion: source.toolkit.fluxcd.io/v1beta2, kind: OCIRepository, name: o}}}"},
		{"a source without a version", "{stack: dev, fluxSource: {sourceRef: {kind: ExternalArtifact, name: e}}}"},
		{"a source of another namespace, which is for the controller to refuse", "{stack: dev, fluxSource: {sourceRef: {kind: Bucket, name: b, namespace: shared}}}"},
		{"a directory with slashes around it", "{stack: dev, fluxSource: {dir: /infra/app/, sourceRef: {kind: GitRepository, name: g}}}"},
		{"config of text", "{stack: dev, programRef: {name: p}, config: {'aws:region': us-east-1, size: '3'}}"},
		{"config of nested JSON", "{stack: dev, programRef: {name: p}, config: {net: {cidrs: [10.0.0.0/8, {v6: true}], mtu: 1500}, list: [1, 2.5], on: true}}"},
		{"config with a null in it", "{stack: dev, programRef: {name: p}, config: {net: {gateway: null}}}"},
		{"config that is null, which is for the controller to refuse", "{stack: dev, programRef: {name: p}, config: {words: }}"},
		{"values from Secrets and literals", "{stack: dev, programRef: {name: p}, envRefs: {A: {type: Secret, secret: {name: s, key: k}}, B: {type: Literal, literal: {value: ''}}}}"},
		{"a Secret with its namespace, as the Pulumi operator has it", "{stack: dev, programRef: {name: p}, secretsRef: {'app:token': {type: Secret, secret: {namespace: default, name: s, key: k}}}}"},
		{"the names of branches that git has", "{stack: dev, projectRepo: https://example.com/repo, branch: 'refs/heads/feature/a-b_c.d@e{1}'}"},
		{"outputs of many names", "{stack: dev, programRef: {name: p}, writeOutputsToSecret: {name: o, keys: [a, .b, a..b, A-b_c.d, '.-']}}"},
		{"a key for the secrets", "{stack: dev, programRef: {name: p}, secretsProvider: 'awskms://alias/a?region=eu-west-1'}"},
		{"nothing where nothing need be", "{stack: dev, programRef: {name: p}, secretsProvider: '', backend: '', branch: ''}"},
		{"an organization in Pulumi Cloud", "{stack: acme/p/dev, backend: 'https://api.pulumi.com', programRef: {name: p}}"},
		{"the organization of a backend without any", "{stack: organization/p/dev, backend: 'file:///state', programRef: {name: p}}"},
		{"a service account", "{stack: dev, programRef: {name: p}, serviceAccountName: deployer.v1-x}"},
		{"an approval that is needed", "{stack: dev, programRef: {name: p}, approval: {require: Destructive, approved: ''}}"},
		{"previews in other namespaces", "{stack: dev, programRef: {name: p}, approval: {previewNamespaces: [previews, others]}}"},
		{"a preview of another Stack", "{stack: dev, programRef: {name: p}, preview: true, previewOf: {name: network, namespace: apps}}"},
		{"an approved digest", "{stack: dev, programRef: {name: p}, approval: {require: Always, approved: 'sha256:" + strings.Repeat("0a", 32) + "'}}"},
		{"no service account", "{stack: dev, programRef: {name: p}, serviceAccountName: ''}"},
		{"config from ConfigMaps, as the operator has it", "{stack: dev, programRef: {name: p}, configRef: {'aws:region': {name: c, key: region}, tree: {name: c, key: k, json: true}}}"},
		{"durations of more than one unit", "{stack: dev, programRef: {name: p}, interval: 1h30m, retryInterval: 1.5m, timeout: 500ms}"},
		{"dependencies as in Flux", "{stack: dev, programRef: {name: p}, dependsOn: [{name: a}, {name: b, namespace: other, readyExpr: 'dep.status.x == self.status.x'}]}"},
		{"prerequisites as in the Pulumi operator", "{stack: dev, programRef: {name: p}, prerequisites: [{name: a}, {name: b, requirement: {succeededWithinDuration: 1h30m}}]}"},
		{"all switches", "{stack: dev, programRef: {name: p}, backend: 's3://state?region=eu-west-1', destroyOnFinalize: true, suspend: true}"},
	} {
		t.Run(test.name, func(t *testing.T) { server.accepts(t, namespace, "spec", stack(t, test.spec)) })
	}
	t.Run("a name longer than the 42 characters of the Pulumi operator v2", func(t *testing.T) {
		object := stack(t, "{stack: dev, programRef: {name: p}}")
		object.SetName(strings.Repeat("long-", 12) + "name")
		object.SetGenerateName("")
		server.accepts(t, namespace, "spec", object)
	})
	t.Run("fields of a Stack that are null are not there", func(t *testing.T) {
		g := NewWithT(t)
		object := stack(t, "{stack: dev, programRef: {name: p}, fluxSource: , projectRepo: , branch: , config: , configRef: , secrets: , secretsRef: , envRefs: , "+
			"envs: , targets: , dependsOn: , interval: , timeout: , writeOutputsToSecret: , workspaceTemplate: , destroyOnFinalize: }")
		object.SetNamespace(namespace)
		g.Expect(server.strict.Create(t.Context(), object)).To(Succeed())
		g.Expect(object.Object["spec"]).To(Equal(stack(t, "{stack: dev, programRef: {name: p}}").Object["spec"]))
	})
	for _, test := range []struct{ name, text string }{
		{"a program with every section", "{configuration: {size: {type: Number, default: 3}, key: {type: String, secret: true}}, " +
			"variables: {zone: {'fn::invoke': {function: 'aws:getAvailabilityZones', return: names}}}, " +
			"resources: {b: {type: 'aws:s3:Bucket', name: other, defaultProvider: false, properties: {tags: {a: null, n: 1}}, " +
			"options: {protect: true, parent: '${p}', dependsOn: ['${p}'], aliases: [old, {name: older}], providers: {aws: '${p}'}, customTimeouts: {create: 5m}}}, " +
			"g: {type: 'aws:s3:Bucket', get: {id: x, state: {a: [1]}}}}, outputs: {name: '${b.id}', list: [a, {b: 1}]}, packages: {aws: 6.0.0}}"},
		{"a program that has nothing yet", "{}"},
		{"options that are expressions", "{resources: {b: {type: 'aws:s3:Bucket', properties: '${all}', options: {dependsOn: '${list}', aliases: '${old}', " +
			"protect: '${prod}', customTimeouts: {create: '${long}', read: 1m}, replacementTrigger: {a: 1}, envVarMappings: {A: B}, replaceWith: '${c}'}}}}"},
		{"config in both sections", "{config: {'aws:region': {value: x}, list: {type: array, items: {type: string}, name: other}}, configuration: {old: {type: Number}}}"},
		// The controller names what Pulumi YAML does not have: it is kept for that, with all clients.
		{"the runtime of a project", "{runtime: nodejs, backend: {url: 's3://other'}}"},
		{"keys that are not known", "{resources: {b: {type: 'aws:s3:Bucket', propertys: {a: 1}, options: {protected: true, customTimeouts: {make: 1m}}, get: {id: x, nme: y}}}, " +
			"config: {a: {kind: x, items: {type: string, more: 1}}}, pulumi: {version: 3}}"},
	} {
		t.Run(test.name, func(t *testing.T) { server.accepts(t, namespace, "program", program(t, test.text)) })
	}
}

// accepts creates the object and looks whether it is stored as it was written.
func (a *api) accepts(t *testing.T, namespace, field string, object *unstructured.Unstructured) {
	t.Helper()
	g := NewWithT(t)
	object.SetNamespace(namespace)
	created := object.DeepCopy()
	g.Expect(a.strict.Create(t.Context(), created)).To(Succeed())
	g.Expect(created.Object[field]).To(Equal(object.Object[field]))
}

func testUpdates(t *testing.T, server *api) {
	namespace := server.namespace(t)
	for _, test := range []struct {
		name, field, value, refused string
	}{
		{"the name of the stack cannot be changed", "stack", "prod", "stack cannot be changed: the stack under the old name would be left behind"},
		{"the backend can be changed", "backend", "s3://other", ""},
		{"the interval can be changed", "interval", "1m", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			g := NewWithT(t)
			object := stack(t, "{stack: dev, programRef: {name: p}}")
			object.SetNamespace(namespace)
			g.Expect(server.strict.Create(t.Context(), object)).To(Succeed())
			g.Expect(unstructured.SetNestedField(object.Object, test.value, "spec", test.field)).To(Succeed())
			err := server.strict.Update(t.Context(), object)
			if test.refused == "" {
				g.Expect(err).NotTo(HaveOccurred())
				return
			}
			g.Expect(err).To(MatchError(ContainSubstring(test.refused)))
		})
	}
	t.Run("a Stack can change over to a Program", func(t *testing.T) {
		g := NewWithT(t)
		object := stack(t, "{stack: dev, fluxSource: {sourceRef: {kind: Bucket, name: b}}}")
		object.SetNamespace(namespace)
		g.Expect(server.strict.Create(t.Context(), object)).To(Succeed())
		unstructured.RemoveNestedField(object.Object, "spec", "fluxSource")
		g.Expect(unstructured.SetNestedField(object.Object, "p", "spec", "programRef", "name")).To(Succeed())
		g.Expect(server.strict.Update(t.Context(), object)).To(Succeed())
	})
}
