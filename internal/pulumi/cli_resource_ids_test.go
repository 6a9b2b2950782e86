// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"encoding/json"
	"fmt"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

func TestWhichIDsMayBeSecrets(t *testing.T) {
	const secret = `{"4dabf18193072939515e22adb298388d":"1b47061264138c4ac30d75fd1eb44270","ciphertext":"[secret]"}`
	for _, test := range []struct {
		name, typ, id, inputs, outputs string
		alone, besideAPassword         bool
	}{
		{"beside a generated secret", "lab:index:Thing", "canary", `{}`, `{"id":"canary","result":` + secret + `}`, true, true},
		{"beside a generated secret in a list", "lab:index:Thing", "canary", `{}`, `{"id":"canary","keys":[{"key":` + secret + `}]}`, true, true},
		{"beside a secret that it was given", "lab:index:Thing", "canary", `{"value":` + secret + `}`, `{"id":"canary","value":` + secret + `}`, false, true},
		{"with nothing secret", "lab:index:Thing", "canary", `{}`, `{"id":"canary"}`, false, false},
		{"in another output in plain", "lab:index:Thing", "canary", `{}`, `{"id":"canary","arn":"arn:canary","key":` + secret + `}`, false, false},
		{"in a list in plain", "lab:index:Thing", "ca\"nary", `{}`, `{"names":[{"name":"ca\"nary"}]}`, false, false},
		{"of a provider", "pulumi:providers:lab", "canary", `{"key":` + secret + `}`, `{}`, false, false},
		{"of a component", "lab:index:Service", "", `{}`, `{}`, false, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			g := NewWithT(t)
			at := stepState{}
			g.Expect(json.Unmarshal(fmt.Appendf(nil, `{"id":%q,"inputs":%s,"outputs":%s}`, test.id, test.inputs, test.outputs), &at)).To(Succeed())
			var ids secretIDs
			ids.see("urn:a", test.typ, &at)
			g.Expect(ids.mayBeSecret("urn:a")).To(Equal(test.alone))
			ids.see("urn:password", "random:RandomPassword", &stepState{ID: "none", Outputs: map[string]json.RawMessage{"result": json.RawMessage(secret)}})
			g.Expect(ids.mayBeSecret("urn:a")).To(Equal(test.besideAPassword))
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
