// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package mask

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

// stateWith returns an exported state with the value as a secret.
func stateWith(value any) string {
	raw, _ := json.Marshal(value)
	quoted, _ := json.Marshal(string(raw))
	return fmt.Sprintf(`{"deployment":{"resources":[{"outputs":{"a":[{"4dabf18193072939515e22adb298388d":"1b47061264138c4ac30d75fd1eb44270",`+
		`"plaintext":%s}],"b":"not-a-secret"}}]}}`, quoted)
}

// secretsIn lists the secrets in a state.
func secretsIn(state string) ([]string, error) {
	var secrets StateSecrets
	err := secrets.Add([]byte(state))
	return secrets.Values(), err
}

func TestSecretsOfAState(t *testing.T) {
	for name, test := range map[string]struct {
		value any
		want  []string
	}{
		"a text":               {"hunter2", []string{"hunter2"}},
		"one that is escaped":  {"a\n\"b\"", []string{"a\n\"b\""}},
		"a number":             {4711471147, []string{"4711471147"}},
		"a list":               {[]any{"hunter2"}, []string{`["hunter2"]`}},
		"a short text":         {"abc", nil},
		"a short number":       {443, nil},
		"a boolean":            {true, nil},
		"nothing":              {nil, nil},
		"a text that is empty": {"", nil},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			secrets, err := secretsIn(stateWith(test.value))
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(secrets).To(Equal(test.want))
			raw, err := json.Marshal(test.value)
			g.Expect(err).NotTo(HaveOccurred())
			decoder := json.NewDecoder(bytes.NewReader(raw))
			decoder.UseNumber()
			var value any
			g.Expect(decoder.Decode(&value)).To(Succeed())
			g.Expect(MayHaveStateSecret(value)).To(Equal(test.want != nil))
		})
	}
	t.Run("no JSON", func(t *testing.T) {
		g := NewWithT(t)
		_, err := secretsIn(`{"plaintext": "hunter2", x`)
		g.Expect(err).To(HaveOccurred())
		g.Expect(err.Error()).NotTo(ContainSubstring("hunter2"))
	})
	t.Run("too many", func(t *testing.T) {
		g := NewWithT(t)
		long := strings.Repeat("x", maxStateSecrets)
		both := strings.Replace(stateWith("hunter2"), `"b":`, `"plaintext":"\"`+long+`\"","b":`, 1)
		g.Expect(secretsIn(both)).To(Equal([]string{"hunter2"}))
	})
}
