// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/flux-pulumi/pulumi-controller/internal/policy"
)

func TestConfig(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		inline map[string]string
		from   string
		want   string
	}{
		"none":                            {},
		"of an empty ConfigMap":           {from: "\n"},
		"of an empty object":              {from: "{}"},
		"inline":                          {inline: map[string]string{"tags": `{"required": ["b", "a"], "enforcementLevel": "advisory"}`}, want: `{"tags":{"enforcementLevel":"advisory","required":["b","a"]}}`},
		"JSON":                            {from: `{"tags": {"most": 1}}`, want: `{"tags":{"most":1}}`},
		"YAML":                            {from: "tags:\n  most: 1 # a comment\n", want: `{"tags":{"most":1}}`},
		"the short form of a level":       {from: "all: disabled", want: `{"all":{"enforcementLevel":"disabled"}}`},
		"inline wins by policy":           {inline: map[string]string{"tags": `{"most":2}`}, from: `{"tags": {"least": 1}, "all": "mandatory"}`, want: `{"all":{"enforcementLevel":"mandatory"},"tags":{"most":2}}`},
		"a policy that is called version": {from: "version: mandatory", want: `{"version":{"enforcementLevel":"mandatory"}}`},
		"large numbers keep their digits": {inline: map[string]string{"a": `{"n": 9007199254740993}`}, from: `{"b": {"n": 9007199254740993}}`,
			want: `{"a":{"n":9007199254740993},"b":{"n":9007199254740993}}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := NewWithT(t)
			config, err := policy.Config(raw(test.inline), test.from)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(string(config)).To(Equal(test.want))
		})
	}
}

func TestConfigRefuses(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		inline map[string]string
		from   string
		want   string
	}{
		"what is no YAML":                 {from: "a: [", want: "neither JSON nor YAML"},
		"a policy twice":                  {from: "a: {}\na: {}", want: `key "a" already set`},
		"a list":                          {from: "[a]", want: "the config is not an object"},
		"a text":                          {from: "mandatory", want: "the config is not an object"},
		"a level that is not known":       {from: "tags: fatal", want: "the level of policy tags must be one of advisory, mandatory, remediate, disabled"},
		"such a level in an object":       {from: "tags: {enforcementLevel: fatal}", want: "the level of policy tags"},
		"a level that is no text":         {from: "tags: {enforcementLevel: 1}", want: "the level of policy tags"},
		"a level that is null":            {from: "tags: {enforcementLevel: null}", want: "the level of policy tags"},
		"a policy whose config is a list": {from: "tags: [a]", want: "the config of policy tags must be a level or an object"},
		"a policy whose config is null":   {from: "tags:", want: "the config of policy tags must be a level or an object"},
		"a policy without a name":         {from: `"": mandatory`, want: "the config has an empty key"},
		"environments of Pulumi ESC":      {from: "environments: [a]", want: "environments of Pulumi ESC are not supported"},
		"environments as a policy":        {inline: map[string]string{"environments": "{}"}, want: "environments of Pulumi ESC are not supported"},
		"a newer form, with exceptions":   {from: "{version: 2, policies: {tags: mandatory}, exceptions: {}}", want: "the config has a version: this form, which has exceptions, is not supported"},
		"too much":                        {from: "tags: {a: " + strings.Repeat("a", 256<<10) + "}", want: "more than the limit of"},
		"inline null, from a CRD of old":  {inline: map[string]string{"tags": "null"}, want: "the config of policy tags must be a level or an object"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := NewWithT(t)
			config, err := policy.Config(raw(test.inline), test.from)
			g.Expect(err).To(MatchError(ContainSubstring(test.want)))
			g.Expect(config).To(BeNil())
			g.Expect(len(err.Error())).To(BeNumerically("<", 1024))
		})
	}
}

func raw(config map[string]string) map[string]apiextensionsv1.JSON {
	all := map[string]apiextensionsv1.JSON{}
	for policy, value := range config {
		all[policy] = apiextensionsv1.JSON{Raw: []byte(value)}
	}
	return all
}
