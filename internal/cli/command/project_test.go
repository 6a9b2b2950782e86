// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"encoding/json"
	"testing"

	. "github.com/onsi/gomega"
)

func TestAProjectIsReadAsPulumiReadsIt(t *testing.T) {
	for text, want := range map[string]string{
		"a: y":                         `{"a":"y"}`,
		"n: no":                        `{"n":"no"}`,
		"a: true":                      `{"a":true}`,
		"a: 12345678901234567":         `{"a":12345678901234567}`,
		"a: 1.5":                       `{"a":1.5}`,
		"a: 2026-01-02":                `{"a":"2026-01-02"}`,
		"a: [1, {b: ~}]":               `{"a":[1,{"b":null}]}`,
		"x: &x {a: 1}\ny: {<<: *x}":    `{"x":{"a":1},"y":{"a":1}}`,
		"a: |\n  two\n  lines\n":       `{"a":"two\nlines\n"}`,
		"resources: {on: {type: a:b}}": `{"resources":{"on":{"type":"a:b"}}}`,
	} {
		project, more, err := parseProject([]byte(text))
		NewWithT(t).Expect(err).NotTo(HaveOccurred(), text)
		NewWithT(t).Expect(more).To(BeFalse(), text)
		encoded, err := json.Marshal(project)
		NewWithT(t).Expect(err).NotTo(HaveOccurred(), text)
		NewWithT(t).Expect(string(encoded)).To(Equal(want), text)
	}
	for text, want := range map[string]string{
		"":               "it is empty",
		"# a: 1":         "it is empty",
		"a: 1\na: 2":     "already defined",
		"- a":            "cannot unmarshal",
		"a: [":           "did not find",
		"a: {1: b}":      "a key is not a string",
		"a: {[1, 2]: b}": "invalid map key",
	} {
		_, _, err := parseProject([]byte(text))
		NewWithT(t).Expect(err).To(MatchError(ContainSubstring(want)), text)
	}
	_, more, err := parseProject([]byte("a: 1\n---\nb: 2"))
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	NewWithT(t).Expect(more).To(BeTrue())
}
