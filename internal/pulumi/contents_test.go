// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

func TestContentsOfAState(t *testing.T) {
	const secret = `{"4dabf18193072939515e22adb298388d":"1b47061264138c4ac30d75fd1eb44270","plaintext":"\"hunter2\""}`
	dynamic := `{"type":"pulumi-python:dynamic:Resource"}`
	for name, test := range map[string]struct {
		state, dynamic string
		secrets        []string
		hasSecrets     bool
		fails          bool
	}{
		"an export":                   {state: `{"version":3,"deployment":{"manifest":{"resources":1},"resources":[{"outputs":{"a":` + secret + `}},` + dynamic + `]}}`, dynamic: "pulumi-python:dynamic:Resource", secrets: []string{"hunter2"}, hasSecrets: true},
		"the file of a backend":       {state: `{"version":3,"checkpoint":{"stack":"resources","latest":{"resources":[` + dynamic + `]}}}`, dynamic: "pulumi-python:dynamic:Resource"},
		"a secret in what is started": {state: `{"deployment":{"resources":[],"pending_operations":[{"resource":{"inputs":{"a":` + secret + `}}}]}}`, secrets: []string{"hunter2"}, hasSecrets: true},
		"a stack without resources":   {state: `{"version":3,"deployment":{"resources":null}}`},
		"a stack that was just made":  {state: `{"version":3,"checkpoint":{"latest":null}}`},
		"a value that looks like it":  {state: `{"deployment":{"resources":[{"type":"a:b:C","inputs":{"type":"pulumi-nodejs:dynamic:Resource"}}]}}`},
		"a state that is cut":         {state: `{"deployment":{"resources":[` + dynamic, fails: true},
		"what is none":                {state: `[]`, fails: true},
		"a resource that is too big":  {state: `{"deployment":{"resources":[{"a":"` + strings.Repeat("x", maxResource+1<<20) + `"}]}}`, fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			read, err := readContents(strings.NewReader(test.state))
			if test.fails {
				g.Expect(err).To(HaveOccurred())
				g.Expect(len(err.Error())).To(BeNumerically("<", 200))
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(read.dynamic).To(Equal(test.dynamic))
			g.Expect(read.hasSecrets).To(Equal(test.hasSecrets))
			g.Expect(read.secrets.Values()).To(Equal(test.secrets))
		})
	}
}
