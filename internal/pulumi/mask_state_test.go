// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

// stateWith is an exported state that has the value for a secret.
func stateWith(value any) string {
	raw, _ := json.Marshal(value)
	quoted, _ := json.Marshal(string(raw))
	return fmt.Sprintf(`{"deployment":{"resources":[{"outputs":{"a":[{%q:%q,"plaintext":%s}],"b":"not-a-secret"}}]}}`,
		signatureKey, secretSignature, quoted)
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
			secrets, err := secretsOfState([]byte(stateWith(test.value)))
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(secrets).To(Equal(test.want))
		})
	}
	t.Run("no JSON", func(t *testing.T) {
		g := NewWithT(t)
		_, err := secretsOfState([]byte(`{"plaintext": "hunter2", x`))
		g.Expect(err).To(HaveOccurred())
		g.Expect(err.Error()).NotTo(ContainSubstring("hunter2"))
	})
	t.Run("too many", func(t *testing.T) {
		g := NewWithT(t)
		long := strings.Repeat("x", maxStateSecrets)
		both := strings.Replace(stateWith("hunter2"), `"b":`, `"plaintext":"\"`+long+`\"","b":`, 1)
		g.Expect(secretsOfState([]byte(both))).To(Equal([]string{"hunter2"}))
	})
}

// What is known at first must not hide what is learned.
func TestAMaskerLearns(t *testing.T) {
	g := NewWithT(t)
	e := &events{mask: newMasker([]string{"hunter2"})}
	readAll(e, diagLine("error", "", "in pw-hunter2-end and other-secret"))
	g.Expect(e.errors[0].text).To(Equal("in pw-***-end and other-secret"))
	e.mask.learn([]string{"pw-hunter2-end", "other-secret", "hunter2"})
	e.remask()
	g.Expect(e.errors[0].text).To(Equal("in *** and ***"))
}

func TestHeldLinesAreBounded(t *testing.T) {
	g := NewWithT(t)
	var h heldLines
	for range maxHeld + 3 {
		h.add(toldLine{text: tell("x")}, false)
	}
	g.Expect(h.lines).To(HaveLen(maxHeld))
	g.Expect(h.left).To(Equal(3))
	h = heldLines{}
	for range 100 {
		h.add(toldLine{text: tell(strings.Repeat("x", maxTold+1))}, true)
	}
	g.Expect(h.bytes).To(BeNumerically("<=", maxHeldBytes))
	g.Expect(h.left).To(Equal(100 - len(h.lines)))
}
