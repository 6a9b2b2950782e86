// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package mask

import (
	"testing"

	. "github.com/onsi/gomega"
)

func TestSecretsInTheTextOfAProgram(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		want []string
	}{
		"none":                       {"resources:\n  a: {type: x, properties: {b: c}}", nil},
		"invalid YAML":               {"a: [", nil},
		"a list":                     {"- a", nil},
		"nothing":                    {"", nil},
		"a text":                     {"outputs: {o: {fn::secret: hunter2}}", []string{"hunter2"}},
		"a number":                   {"outputs: {o: {fn::secret: 4711471147}}", []string{"4711471147"}},
		"neither null nor a boolean": {"outputs: {o: {fn::secret: null}, p: {fn::secret: true}}", nil},
		"in a list":                  {"outputs: {o: [1, {fn::secret: hunter2}]}", []string{"hunter2"}},
		"all of an object":           {"outputs: {o: {fn::secret: {a: one, b: [two, {c: 3}]}}}", []string{"3", "one", "two"}},
		"capitalized":                {"outputs: {o: {Fn::Secret: hunter2}}", []string{"hunter2"}},
		"within each other":          {"outputs: {o: {fn::secret: {fn::secret: hunter2}}}", []string{"hunter2"}},
		"text around references":     {`outputs: {o: {fn::secret: "pw-${a.b}-end"}}`, []string{"-end", "pw-"}},
		"no separators":              {`outputs: {o: {fn::secret: {fn::join: [",", [hunter2, "${a}"]]}}}`, []string{"hunter2"}},
		"an escaped reference":       {`outputs: {o: {fn::secret: "a$${b}"}}`, []string{"a${b}"}},
		"config":                     {"config: {a: {type: string, secret: true, default: hunter2}}", []string{"hunter2"}},
		"config, by its other name":  {"configuration: {a: {secret: true, value: hunter2}}", []string{"hunter2"}},
		"config that is not secret":  {"config: {a: {type: string, default: x}, b: {secret: false, value: y}, c: z}", nil},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(InProgram([]byte(test.text))).To(Equal(test.want))
		})
	}
}
