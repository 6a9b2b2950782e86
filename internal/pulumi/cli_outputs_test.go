// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"encoding/json"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/grammar"
	"github.com/flux-pulumi/pulumi-controller/internal/outputs"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

const manyOutputs = `
resources: {}
config:
  pw: {type: string, secret: true}
outputs:
  plain: "a \"quoted\" <text> & ünïcödé 😀\n"
  empty: ""
  big: 123456789012345678901234567890
  small: 1.5e-9
  whole: 3
  yes: true
  nothing: null
  list: [1, "a", {b: c}]
  secret: ${pw}
  nested: {user: admin, password: "${pw}", list: ["${pw}", 2]}
`

// reading makes a run want outputs in plain text.
func reading(r run.Run, keys ...string) run.Run {
	r.Secrets = map[string]string{"pw": "hunter2-😀-hunter2"}
	r.Outputs = &run.WantedOutputs{Keys: keys}
	return r
}

// texts are the outputs as in a Secret.
func (l *lab) texts(result run.Result) map[string]string {
	l.Helper()
	l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
	l.Expect(result.Plain).NotTo(BeNil())
	data, err := outputs.Data(*result.Plain)
	l.Expect(err).NotTo(HaveOccurred())
	texts := map[string]string{}
	for name, value := range data {
		texts[name] = string(value)
	}
	return texts
}

func TestOutputsInPlain(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	dir, result := l.doIn(t.Context(), reading(l.update(manyOutputs)))
	all := l.texts(result)
	l.Expect(all).To(Equal(map[string]string{
		"plain": "a \"quoted\" <text> & ünïcödé 😀\n", "empty": "", "big": "1.2345678901234568e+29", "small": "1.5e-9", "whole": "3",
		"yes": "true", "list": `[1,"a",{"b":"c"}]`, "secret": "hunter2-😀-hunter2",
		"nested": `{"list":["hunter2-😀-hunter2",2],"password":"hunter2-😀-hunter2","user":"admin"}`,
	}))
	l.Expect(l.newCalls()).To(Equal([]string{"stack init", "up", "stack output"}))
	l.Expect(result.Outputs["secret"]).To(MatchJSON(`"[secret]"`))
	l.Expect(l.find("hunter2", string(dir), l.backend, l.driver.Cache, filepath.Dir(l.calls))).To(BeEmpty())
	text, err := json.Marshal(result)
	l.Expect(err).NotTo(HaveOccurred())
	l.Expect(string(text)).NotTo(ContainSubstring("hunter2"), "what is kept of a run has no secret in it")
	l.Expect(l.saidLines()).NotTo(ContainElement(ContainSubstring("hunter2")))

	// This reads the state only, with neither the program nor its config.
	r := l.destroy()
	r.Operation, r.Outputs = run.ReadOutputs, &run.WantedOutputs{}
	dir, result = l.doIn(t.Context(), r)
	l.Expect(l.texts(result)).To(Equal(all))
	l.Expect(l.newCalls()).To(Equal([]string{"stack output"}))
	l.Expect(result.Changes).To(BeZero())
	l.Expect(l.locks()).To(BeEmpty())
	l.Expect(l.find("hunter2", string(dir))).To(BeEmpty())

	// Plain outputs are read as well: the events do not have them unchanged.
	plain := []string{"plain", "empty", "big", "small", "whole", "yes", "list"}
	chosen := l.texts(l.do(t.Context(), reading(l.update(manyOutputs), plain...)))
	l.Expect(l.newCalls()).To(Equal([]string{"up", "stack output"}))
	l.Expect(chosen).To(HaveLen(len(plain)))
	for name, value := range chosen {
		l.Expect(value).To(Equal(all[name]), name)
	}

	r.Env[grammar.PassphraseVariable] = "wrong"
	result = l.do(t.Context(), r)
	l.Expect(result.Outcome).To(Equal(run.Failed))
	l.Expect(result.Message).To(ContainSubstring("incorrect passphrase"))
	l.Expect(result.Plain).To(BeNil())
	l.Expect(result.Interrupted).To(BeFalse())
}

func TestAProgramWithoutOutputsHasNone(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	l := newLab(t).withStack()
	result := l.do(t.Context(), reading(l.update("variables: {a: 1}\n")))
	l.Expect(l.texts(result)).To(BeEmpty())
}

func TestCapturedOutputIsBounded(t *testing.T) {
	g := NewWithT(t)
	c := &capture{limit: 4}
	for _, piece := range []string{"abc", "d", "e", "f"} {
		n, err := c.Write([]byte(piece))
		g.Expect(n, err).To(Equal(len(piece)))
	}
	g.Expect(c.text.String()).To(Equal("abcd"))
	g.Expect(c.over).To(BeTrue())
}
