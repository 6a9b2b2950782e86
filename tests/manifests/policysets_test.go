// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package manifests

import (
	"encoding/json"
	"fmt"
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

func testPolicySets(t *testing.T, server *api) {
	const levels = `supported values: "advisory", "mandatory", "remediate", "disabled"`
	for _, test := range []refusal{
		{"without packs", "{}", "spec.packs: Required value"},
		{"an empty list of packs", "{packs: []}", "spec.packs in body should have at least 1 items"},
		{"the same pack twice", "{packs: [" + pack("") + ", " + pack("") + "]}", `spec.packs[1]: Duplicate value: {"name":"aws"}`},
		{"a pack with an invalid name", "{packs: [{name: A.b, sourceRef: {kind: Bucket, name: b, namespace: ns}}]}", "must be of lower-case letters, digits and hyphens"},
		{"a source without a namespace", "{packs: [{name: a, sourceRef: {kind: Bucket, name: b}}]}", "spec.packs[0].sourceRef.namespace: Required value"},
		{"a source with an invalid name", "{packs: [{name: a, sourceRef: {kind: Bucket, name: a/b, namespace: ns}}]}", "must be the name of an object"},
		{"a source in a namespace with an invalid name", "{packs: [{name: a, sourceRef: {kind: Bucket, name: b, namespace: a.b}}]}", "must be the name of a namespace"},
		{"a ConfigMap with an invalid name", "{packs: [" + pack("configFrom: {configMap: {name: team/policies, namespace: ns, key: k}}") + "]}", "must be the name of an object"},
		{"an enforcement that is not known", "{enforcement: Always, packs: [" + pack("") + "]}", `supported values: "Enforce", "Warn"`},
		{"a level that is not known", "{packs: [" + pack("config: {tags: {enforcementLevel: fatal}}") + "]}", levels},
		{"a level that is a number", "{packs: [" + pack("config: {tags: {enforcementLevel: 1}}") + "]}", "spec.packs[0].config.tags.enforcementLevel in body must be of type string"},
		{"the short form", "{packs: [" + pack("config: {all: mandatory}") + "]}", "spec.packs[0].config.all in body must be of type object"},
		{"the config of a policy that is a list", "{packs: [" + pack("config: {tags: [a]}") + "]}", "spec.packs[0].config.tags in body must be of type object"},
		{"the config of a policy that is null", "{packs: [" + pack("config: {tags: null}") + "]}", "has an entry that is null, tags: give it a value, or remove it"},
		{"the config of a policy without a name", "{packs: [" + pack("config: {'': {}}") + "]}", "has an empty key: use the name of a policy, or all"},
		{"a label that is null", "{packs: [" + pack("") + "], stackSelector: {matchLabels: {a: null}}}", "matchLabels has an entry that is null"},
		{"environments", "{packs: [" + pack("config: {environments: {}}") + "]}", "has environments, which Pulumi takes for"},
		{"config from nowhere", "{packs: [" + pack("configFrom: {}") + "]}", "spec.packs[0].configFrom.configMap: Required value"},
		{"a selector with an operator that is not known", "{packs: [" + pack("") + "], stackSelector: {matchExpressions: [{key: a, operator: Is, values: [b]}]}}", "matchExpressions need the operator"},
		{"a selector without values", "{packs: [" + pack("") + "], namespaceSelector: {matchExpressions: [{key: a, operator: In}]}}", "matchExpressions need the operator"},
		{"a selector with values that make no sense", "{packs: [" + pack("") + "], namespaceSelector: {matchExpressions: [{key: a, operator: Exists, values: [b]}]}}", "matchExpressions need the operator"},
		{"a field that is not known", "{packs: [" + pack("") + "], selector: {}}", `unknown field "spec.selector"`},
	} {
		t.Run("refused: "+test.name, func(t *testing.T) { server.refuses(t, "", policySet(t, test.text), test.message) })
	}
	t.Run("accepted", func(t *testing.T) {
		g := NewWithT(t)
		object := policySet(t, "{packs: ["+pack("config: {all: {enforcementLevel: mandatory}, tags: {required: [owner], most: 9007199254740993}, public: {enforcementLevel: disabled}}, "+
			"configFrom: {configMap: {name: c-1.d, namespace: ns, key: k}}")+"], "+
			"stackSelector: {matchLabels: {a: b}, matchExpressions: [{key: a, operator: NotIn, values: [c]}, {key: a, operator: Exists}]}, namespaceSelector: {}}")
		g.Expect(server.strict.Create(t.Context(), object)).To(Succeed())
		text, err := json.Marshal(object)
		g.Expect(err).NotTo(HaveOccurred())
		var set v1.PolicySet
		g.Expect(json.Unmarshal(text, &set)).To(Succeed())
		g.Expect(set.Spec.Enforcement).To(Equal(v1.PolicyEnforce))
		g.Expect(set.Status.ObservedGeneration).To(Equal(int64(-1)), "so that kstatus waits")
		g.Expect(string(set.Spec.Packs[0].Config["tags"].Raw)).To(MatchJSON(`{"required": ["owner"], "most": 9007199254740993}`))
	})
}

// pack returns a pack with further fields, in YAML.
func pack(more string) string {
	return fmt.Sprintf("{name: aws, sourceRef: {kind: GitRepository, name: packs, namespace: platform}, %s}", more)
}

// policySet returns a PolicySet with this spec.
func policySet(t *testing.T, spec string) *unstructured.Unstructured {
	t.Helper()
	return object(t, "PolicySet", "spec", spec)
}
