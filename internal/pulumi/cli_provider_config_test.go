// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"encoding/json"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

// A type does not keep a value from the provider. Without one, the provider fails, and so
// says whether it got it.
func TestAProgramGivesAProviderItsValue(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	for name, test := range map[string]struct {
		declared string
		given    bool // by the Stack, in place of the value
	}{
		"a value":                                   {declared: "{value: DIR}"},
		"a value with a type":                       {declared: "{type: string, value: DIR}"},
		"a value that a Stack replaces":             {declared: "{value: /nowhere}", given: true},
		"a value with a type that a Stack replaces": {declared: "{type: string, value: /nowhere}", given: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t).withProvider().withStack()
			checked := l.check("config: {'lab:directory': " + strings.ReplaceAll(test.declared, "DIR", l.cloud) + "}\n" +
				"resources: {a: {type: 'lab:Thing', properties: {name: a}}}\noutputs: {o: '${lab:directory}'}\n")
			l.Expect(checked.FaultsIn("demo").String()).To(BeEmpty())
			r := l.update(string(checked.Text))
			r.Program.Config = checked.ConfigIn("demo")
			if test.given {
				r.Config = map[string]json.RawMessage{"lab:directory": jsonString(l.cloud)}
			}
			result := l.do(t.Context(), r)
			l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
			l.Expect(l.things()).To(Equal(1))
			l.Expect(result.Outputs["o"]).To(MatchJSON(jsonString(l.cloud)), "the program can refer to it")
		})
	}
}

// With the project before it, a name is that of a config value of the program.
func TestTheProjectBeforeANameMakesItNoProviders(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	l := newLab(t).withStack()
	checked := l.check("config:\n  'demo:size': {type: Number, default: 2}\n  'demo:name': {type: string, value: 'x-${pulumi.stack}'}\n" +
		"  'demo:token': {type: string, value: abc, secret: true}\n  'demo:account': {type: string}\n" +
		"outputs: {size: '${demo:size}', name: '${demo:name}', token: '${demo:token}', account: 'a${demo:account}'}\n")
	l.Expect(checked.FaultsIn("demo").String()).To(BeEmpty())
	r := l.update(string(checked.Text))
	r.Program.Config = checked.ConfigIn("demo")
	r.Config = map[string]json.RawMessage{"account": json.RawMessage(`"123456789012"`)}
	result := l.do(t.Context(), r)
	l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
	l.Expect(result.Outputs).To(Equal(map[string]json.RawMessage{
		"size": json.RawMessage(`2`), "name": json.RawMessage(`"x-dev"`), "token": json.RawMessage(`"[secret]"`), "account": json.RawMessage(`"a123456789012"`),
	}))
}
