// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"encoding/json"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/inputs"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// The values reach the program as plain ones would, and are nowhere in clear text.
func TestPlainConfigThatAProgramDeclaresSecretIsEncrypted(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ section, kind, value, use, want string }{
		"a text":           {"config", "string", `"canary-one"`, "${s}", `"canary-one"`},
		"a number":         {"config", "Number", `123456789.25`, "${s}", `123456789.25`},
		"a list":           {"config", "List<String>", `["canary-one","canary-two"]`, "${s[1]}", `"canary-two"`},
		"an object":        {"config", "Object", `{"a":{"b":"canary-one"}}`, "${s.a.b}", `"canary-one"`},
		"of configuration": {"configuration", "String", `"canary-one"`, "x${s}", `"xcanary-one"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			checked := l.check(test.section + ": {s: {type: \"" + test.kind + "\", secret: true}}\noutputs: {o: \"" + test.use + "\"}\n")
			l.Expect(checked.Invalid.String()).To(BeEmpty())
			values := inputs.Inputs{Config: map[string]json.RawMessage{"s": json.RawMessage(test.value)}, Secrets: map[string]string{}}
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
			l.Expect(string(result.Outputs["o"])).To(Equal(`"[secret]"`))
			l.Expect(string(result.Plain.Values["o"])).To(Equal(test.want))
			for _, canary := range []string{"canary-", "123456789.25"} {
				l.Expect(l.find(canary, string(dir), l.backend, l.driver.Cache, filepath.Dir(l.calls))).To(BeEmpty())
			}
		})
	}
}

func TestADefaultThatIsSecretIsEncrypted(t *testing.T) {
	t.Parallel()
	for _, declared := range []string{"config: {s: {secret: true, default: canary-one}}", "config: {s: {type: string, secret: true, value: canary-one}}",
		"configuration: {s: {type: String, secret: true, default: canary-one}}"} {
		t.Run(declared, func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			result := l.do(t.Context(), l.update(string(l.check(declared+"\noutputs: {o: \"${s}\"}\n").Text)))
			l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
			l.Expect(string(result.Outputs["o"])).To(Equal(`"[secret]"`))
			l.Expect(l.find("canary-", l.backend)).To(BeEmpty())
		})
	}
}
