// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"strings"
	"testing"
	"unicode/utf8"

	. "github.com/onsi/gomega"
	"sigs.k8s.io/yaml"

	"github.com/flux-pulumi/pulumi-controller/internal/program"
)

// FuzzProgram: whatever an object contains, the check terminates without a panic, and its
// result is bounded.
func FuzzProgram(f *testing.F) {
	all, err := yaml.YAMLToJSON([]byte(everything))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(all))
	for _, seed := range []string{
		`{}`, `null`, `[]`, `{"sdks":[1]}`, `{"components":{"a":{"template":{}}}}`, `{"resources":{"a":null}}`, `{"resources":{"a":{"type":null,"defaultProvider":true}}}`,
		`{"resources":{"a":{"type":"x","defaultProvider":true}}}`, `{"config":{"a":1,"b":[{}],"c":{"type":"array","items":{"type":"array","items":{}}}}}`,
		`{"config":[],"configuration":{"a":{}}}`, `{"outputs":{"a":"${","b":"${}","c":"${[0]}","d":"${[\"\"]}","e":"$${x}","f":"${.}","g":"${a[99999999999999999999]}"}}`,
		`{"outputs":{"a":{"fn::invoke":null},"b":{"fn::invoke":{"options":[]}},"c":{"fn::a:b":1},"d":{"fn::":1},"e":{"fn::split":[]}}}`,
		`{"outputs":{"a":{"fn::assetArchive":{"b":{"fn::fileAsset":{"fn::fileAsset":[]}}}}}}`, `{"pulumi":{"requiredVersion":[]}}`, `{"pulumi":1}`,
		`{"<<":{"a":1},"resources":{"<<":{"type":"a:B"}}}`, `{"variables":{"a":"${a}","b":"${c}","c":"${b}"}}`, `{"resources":{"":{"":""}}}`,
		`{"packages":{"a":{}},"variables":[],"outputs":{"\u0000":"\ufeff\u2028"}}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		if !utf8.ValidString(raw) {
			t.Skip("no object holds it")
		}
		g := NewWithT(t)
		checked := Check([]byte(raw))
		for _, faults := range []program.Faults{checked.Invalid, checked.SandboxViolations} {
			g.Expect(len(faults.First)).To(BeNumerically("<=", maxFaults))
			g.Expect(len(faults.String())).To(BeNumerically("<=", program.MaxShown*(maxMessage+maxPath+100)))
			g.Expect(utf8.ValidString(faults.String())).To(BeTrue())
			g.Expect(strings.Contains(faults.String(), "cannot deal with it")).To(BeFalse(), "the parser panics: %s", faults)
		}
		g.Expect(len(checked.Undeclared)).To(BeNumerically("<=", maxNames))
	})
}
