// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package grammar

import (
	"encoding/json"
	"testing"

	. "github.com/onsi/gomega"
	"github.com/pulumi/pulumi/sdk/v3/go/common/workspace"
)

func TestTypesOfConfigAreThoseOfPulumi(t *testing.T) {
	for _, kind := range []string{`{"type":"string"}`, `{"type":"integer"}`, `{"type":"boolean"}`, `{"type":"object"}`,
		`{"type":"array","items":{"type":"string"}}`, `{"type":"array","items":{"type":"array","items":{"type":"integer"}}}`} {
		var declaration map[string]any
		var sdk workspace.ProjectConfigItemsType
		g := NewWithT(t)
		g.Expect(json.Unmarshal([]byte(kind), &declaration)).To(Succeed())
		g.Expect(json.Unmarshal([]byte(kind), &sdk)).To(Succeed())
		ours := ParseConfigType(declaration)
		g.Expect(ours.String()).To(Equal(workspace.InferFullTypeName(sdk.Type, sdk.Items)))
		for _, text := range []string{`"a"`, `"5"`, `"5.5"`, `"true"`, `"yes"`, `""`, `5`, `5.5`, `1e3`, `true`, `null`, `{}`, `{"a":1}`, `[]`, `["a"]`, `["5",5]`, `[[5]]`, `[["a"]]`} {
			var value any
			g.Expect(json.Unmarshal([]byte(text), &value)).To(Succeed())
			g.Expect(ours.takes(value)).To(Equal(workspace.ValidateConfigValue(sdk.Type, sdk.Items, value)), "%s of %s", text, kind)
		}
	}
}

func TestConfigOfAType(t *testing.T) {
	list := &ConfigType{Name: "array", Items: &ConfigType{Name: "string"}}
	for _, test := range []struct {
		kind   *ConfigType
		plain  string
		secret string
		want   bool
	}{
		{kind: &ConfigType{Name: "string"}, plain: `5`, want: true},
		{kind: &ConfigType{Name: "string"}, plain: `true`, want: true},
		{kind: &ConfigType{Name: "string"}, plain: `["a"]`},
		{kind: &ConfigType{Name: "integer"}, plain: `"5"`, want: true},
		{kind: &ConfigType{Name: "integer"}, plain: `1e3`, want: true},
		{kind: &ConfigType{Name: "integer"}, plain: `3.7`},
		{kind: &ConfigType{Name: "integer"}, plain: `true`},
		{kind: &ConfigType{Name: "boolean"}, plain: `true`, want: true},
		{kind: &ConfigType{Name: "boolean"}, plain: `"yes"`},
		{kind: &ConfigType{Name: "boolean"}, plain: `1`},
		{kind: list, plain: `["a"]`, want: true},
		{kind: list, plain: `"[\"a\"]"`, want: true},
		{kind: list, plain: `"a"`},
		{kind: list, secret: `["a"]`, want: true},
		{kind: list, secret: `a`},
		{kind: &ConfigType{Name: "object"}, secret: `{"a":1}`, want: true},
		{kind: &ConfigType{Name: "integer"}, secret: `5`, want: true},
		{kind: &ConfigType{Name: "integer"}, secret: `five`},
	} {
		got := test.kind.TakesSecret(test.secret)
		if test.plain != "" {
			got = test.kind.TakesConfig([]byte(test.plain))
		}
		NewWithT(t).Expect(got).To(Equal(test.want), "%s of %+v", test.kind, test)
	}
	// Capitalized, Pulumi YAML has these too, but a Pulumi.yaml does not.
	for _, other := range []string{"Number", "List<String>", "Boolean", "array", "", "nonsense"} {
		NewWithT(t).Expect(ParseConfigType(map[string]any{"type": other})).To(BeNil())
	}
}
