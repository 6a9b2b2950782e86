// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/inputs"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

// The values reach the program as plain ones would, and are nowhere in clear text.
func TestPlainConfigThatAProgramDeclaresSecretIsEncrypted(t *testing.T) {
	t.Parallel()
	type declared struct{ kind, value, use, want string }
	for section, all := range map[string][]declared{
		"config": {
			{"string", `"canary-one"`, "${s0}", `"canary-one"`},
			{"Number", `123456789.25`, "${s1}", `123456789.25`},
			{"List<String>", `["canary-one","canary-two"]`, "${s2[1]}", `"canary-two"`},
			{"Object", `{"a":{"b":"canary-one"}}`, "${s3.a.b}", `"canary-one"`},
		},
		"configuration": {{"String", `"canary-one"`, "x${s0}", `"xcanary-one"`}},
	} {
		t.Run(section, func(t *testing.T) {
			if section == "configuration" {
				short.Skip(t)
			}
			t.Parallel()
			l := newLab(t).withStack()
			values := inputs.Inputs{Config: map[string]json.RawMessage{}, Secrets: map[string]string{}}
			text, outputs := section+":\n", "outputs:\n"
			for n, one := range all {
				values.Config[fmt.Sprintf("s%d", n)] = json.RawMessage(one.value)
				text += fmt.Sprintf("  s%d: {type: %q, secret: true}\n", n, one.kind)
				outputs += fmt.Sprintf("  o%d: %q\n", n, one.use)
			}
			checked := l.check(text + outputs)
			l.Expect(checked.Invalid.String()).To(BeEmpty())
			for _, declared := range checked.Declared {
				if declared.Secret {
					l.Expect(values.HideConfig(declared.Key)).To(Succeed())
				}
			}
			r := l.update(string(checked.Text))
			r.Config, r.Secrets, r.Masks = values.Config, values.Secrets, values.Masks
			r.Outputs = &run.WantedOutputs{}
			dir, result := l.doIn(t.Context(), r)
			l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
			for n, one := range all {
				l.Expect(string(result.Outputs[fmt.Sprintf("o%d", n)])).To(Equal(`"[secret]"`), one.kind)
				l.Expect(string(result.Plain.Values[fmt.Sprintf("o%d", n)])).To(Equal(one.want), one.kind)
			}
			for _, canary := range []string{"canary-", "123456789.25"} {
				l.Expect(l.find(canary, string(dir), l.backend, l.driver.Cache, filepath.Dir(l.calls))).To(BeEmpty())
			}
		})
	}
}

func TestADefaultThatIsSecretIsEncrypted(t *testing.T) {
	t.Parallel()
	for _, declared := range []string{
		"config: {s: {secret: true, default: canary-one}, t: {type: string, secret: true, value: canary-two}}",
		"configuration: {s: {type: String, secret: true, default: canary-one}, t: {type: String, secret: true, default: canary-two}}",
	} {
		t.Run(declared, func(t *testing.T) {
			if strings.HasPrefix(declared, "configuration") {
				short.Skip(t)
			}
			t.Parallel()
			l := newLab(t).withStack()
			result := l.do(t.Context(), l.update(string(l.check(declared+"\noutputs: {s: \"${s}\", t: \"${t}\"}\n").Text)))
			l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
			l.Expect(result.Outputs).To(And(HaveLen(2), HaveEach(json.RawMessage(`"[secret]"`))))
			l.Expect(l.find("canary-", l.backend)).To(BeEmpty())
		})
	}
}
