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

// idIn is the ID of a thing in the inventory of a result.
func (l *lab) idIn(result run.Result, name string) string {
	l.Helper()
	l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
	for _, resource := range result.Inventory.Resources {
		if resource.URN == urnOf(name) {
			return resource.ID
		}
	}
	l.Fatalf("%s is not in the inventory", name)
	return ""
}

func TestAnIDThatIsASecretIsHidden(t *testing.T) {
	t.Parallel()
	l := newLab(t).withProvider()
	thing := l.thing("value: one")
	plain := l.do(t.Context(), l.update(thing+"outputs: {token: \"${a.id}\"}\n"))
	l.Expect(l.idIn(plain, "a")).To(Equal(l.idOf("a")))

	result := l.do(t.Context(), l.update(thing+"outputs: {token: {\"fn::secret\": \"${a.id}\"}}\n"))
	l.Expect(l.idIn(result, "a")).To(Equal("[secret]"))
	text, err := json.Marshal(result)
	l.Expect(err).NotTo(HaveOccurred())
	l.Expect(string(text)).NotTo(ContainSubstring(l.idOf("a")))
	l.Expect(l.newCalls()).NotTo(ContainElement("stack export"), "a run that goes well takes no more processes for it")
}

func TestWhichIDsMayBeSecrets(t *testing.T) {
	const secret = `{"4dabf18193072939515e22adb298388d":"1b47061264138c4ac30d75fd1eb44270","ciphertext":"[secret]"}`
	for _, test := range []struct {
		name, typ, id, inputs, outputs string
		alone, besideASecretOutput     bool
	}{
		{"beside a secret", "lab:index:Thing", "canary", `{}`, `{"id":"canary","result":` + secret + `}`, true, true},
		{"beside a secret in a list", "lab:index:Thing", "canary", `{}`, `{"id":"canary","keys":[{"key":` + secret + `}]}`, true, true},
		{"beside a secret input", "lab:index:Thing", "canary", `{"value":` + secret + `}`, `{"id":"canary"}`, true, true},
		{"with nothing secret", "lab:index:Thing", "canary", `{}`, `{"id":"canary"}`, false, true},
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
			ids.see("urn:stack", stackType, &stepState{Outputs: map[string]json.RawMessage{"token": json.RawMessage(secret)}})
			g.Expect(ids.mayBeSecret("urn:a")).To(Equal(test.besideASecretOutput))
		})
	}
}
