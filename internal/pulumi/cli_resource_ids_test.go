// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"encoding/json"
	"fmt"
	"testing"

	. "github.com/onsi/gomega"
	"github.com/pulumi/pulumi/sdk/v3/go/common/encoding"
	"github.com/pulumi/pulumi/sdk/v3/go/common/workspace"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

func TestWhichIDsMayBeSecrets(t *testing.T) {
	const secret = `{"4dabf18193072939515e22adb298388d":"1b47061264138c4ac30d75fd1eb44270","ciphertext":"[secret]"}`
	for _, test := range []struct {
		name, typ, id, inputs, outputs string
		known, alone, besideAPassword  bool
	}{
		{"beside a generated secret", "lab:index:Thing", "canary", `{}`, `{"id":"canary","result":` + secret + `}`, true, true, true},
		{"beside a generated secret in a list", "lab:index:Thing", "canary", `{}`, `{"id":"canary","keys":[{"key":` + secret + `}]}`, true, true, true},
		{"beside a generated secret in what it was given", "lab:index:Thing", "canary", `{"credentials":{"user":"a"}}`,
			`{"id":"canary","credentials":{"user":"a","password":` + secret + `}}`, true, true, true},
		{"beside a given and a generated secret in one property", "lab:index:Thing", "canary", `{"keys":[` + secret + `]}`, `{"id":"canary","keys":[` + secret + `,` + secret + `]}`, true, true, true},
		{"beside a known secret that it was given", "lab:index:Thing", "canary", `{"value":` + secret + `}`, `{"id":"canary","value":` + secret + `}`, true, false, true},
		{"beside an unknown secret that it was given", "lab:index:Thing", "canary", `{"value":` + secret + `}`, `{"id":"canary","value":` + secret + `}`, false, true, true},
		{"with nothing secret", "lab:index:Thing", "canary", `{}`, `{"id":"canary"}`, false, false, false},
		{"in another output in plain", "lab:index:Thing", "canary", `{}`, `{"id":"canary","arn":"arn:canary","key":` + secret + `}`, false, false, false},
		{"in a list in plain", "lab:index:Thing", "ca\"nary", `{}`, `{"names":[{"name":"ca\"nary"}]}`, false, false, false},
		{"of a provider", "pulumi:providers:lab", "canary", `{"key":` + secret + `}`, `{}`, false, false, false},
		{"of a component", "lab:index:Service", "", `{}`, `{}`, false, false, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			g := NewWithT(t)
			at := stepState{}
			g.Expect(json.Unmarshal(fmt.Appendf(nil, `{"id":%q,"inputs":%s,"outputs":%s}`, test.id, test.inputs, test.outputs), &at)).To(Succeed())
			var ids secretIDs
			ids.see("urn:a", test.typ, &at)
			g.Expect(ids.mayBeSecret("urn:a", test.known)).To(Equal(test.alone))
			ids.see("urn:password", "random:RandomPassword", &stepState{ID: "none", Outputs: map[string]json.RawMessage{"result": json.RawMessage(secret)}})
			g.Expect(ids.mayBeSecret("urn:a", test.known)).To(Equal(test.besideAPassword))
		})
	}
}

func TestWhetherTheMasksKnowAllSecretsOfAProgram(t *testing.T) {
	for name, test := range map[string]struct {
		project, program, settings string
		environments               []string
		want                       bool
	}{
		"secrets of its text":            {"name: a\nruntime: yaml\n", "variables: {a: {fn::secret: b}}\n", "", nil, true},
		"secrets in settings, decrypted": {"name: a\nruntime: yaml\n", "{}\n", "config: {a:b: c}\n", nil, true},
		"secrets in settings, encrypted": {"name: a\nruntime: yaml\n", "{}\n", "config: {a:b: {secure: c}}\n", nil, false},
		"environments in settings":       {"name: a\nruntime: yaml\n", "{}\n", "environment: [a]\n", nil, false},
		"environments of the Stack":      {"name: a\nruntime: yaml\n", "{}\n", "", []string{"a"}, false},
		"secrets that a function reads":  {"name: a\nruntime: yaml\n", "variables: {a: {fn::secret: {fn::readFile: b}}}\n", "", nil, false},
		"secrets of a resource":          {"name: a\nruntime: yaml\n", "variables: {a: {fn::secret: \"pw-${b.result}\"}}\n", "", nil, false},
		"a dollar in a secret":           {"name: a\nruntime: yaml\n", "variables: {a: {fn::secret: \"$${b}\"}}\n", "", nil, true},
		"secrets of a provider":          {"name: a\nruntime: yaml\n", "variables: {a: {\"Fn::aws:ssm:getParameter\": {}}}\n", "", nil, false},
		"another language":               {"name: a\nruntime: nodejs\n", "", "", nil, false},
		"a compiler":                     {"name: a\nruntime: {name: yaml, options: {compiler: cue}}\n", "{}\n", "", nil, false},
		"a package":                      {"name: a\nruntime: yaml\npackages: {b: ./b}\n", "{}\n", "", nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			project, err := workspace.LoadProjectBytes([]byte(test.project), "Pulumi.yaml", encoding.YAML)
			g.Expect(err).NotTo(HaveOccurred())
			settings, err := parseStackFile(project, "Pulumi.dev.yaml", []byte(test.settings))
			g.Expect(err).NotTo(HaveOccurred())
			known := knowsItsSecrets(project, [][]byte{[]byte(test.program)}) && !hasForeignSecrets(settings, run.Run{Environments: test.environments})
			g.Expect(known).To(Equal(test.want))
		})
	}
}

func TestAnIDThatMayBeAGeneratedSecretIsHidden(t *testing.T) {
	g := NewWithT(t)
	all := resources{}
	for _, one := range []string{"canary", "plain"} {
		at := &stepState{Custom: true, ID: one, Outputs: map[string]json.RawMessage{}}
		if one == "canary" {
			at.Outputs["result"] = json.RawMessage(`{"4dabf18193072939515e22adb298388d":"1b47061264138c4ac30d75fd1eb44270"}`)
		}
		all.ids.see(urnOf(one), "lab:index:Thing", at)
	}
	s := &session{events: &events{resources: all}}
	listed := []run.Resource{{URN: urnOf("canary"), ID: "canary"}, {URN: urnOf("plain"), ID: "plain"}}
	s.hideIDs(listed)
	g.Expect(listed).To(HaveExactElements(HaveField("ID", "[secret]"), HaveField("ID", "plain")))
}
