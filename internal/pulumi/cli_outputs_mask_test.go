// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"fmt"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

// In its events, Pulumi masks any text that equals a secret. A value that does so by
// chance is passed on unchanged.
func TestOutputsArePassedOnAsInTheState(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	l := newLab(t).withProvider().withStack()
	r := l.update(l.thing("value: admin-db.example.com") + `
config:
  user: {type: string, secret: true}
outputs:
  host: ${a.value}
  thing: ${a}
  things: [{first: "${a}"}]
  hidden: {"fn::secret": {first: "${a}"}}
`)
	r.Secrets = map[string]string{"user": "admin"}
	r.Outputs = &run.WantedOutputs{}
	result := l.do(t.Context(), r)
	thing := fmt.Sprintf(`{"id":%q,"urn":%q}`, l.idOf("a"), urnOf("a"))
	want := map[string]string{
		"host": "admin-db.example.com", "thing": thing, "things": `[{"first":` + thing + `}]`, "hidden": `{"first":` + thing + `}`,
	}
	l.Expect(l.texts(result)).To(Equal(want))
	l.Expect(result.Outputs["thing"]).To(MatchJSON(thing))
	l.Expect(result.Outputs["things"]).To(MatchJSON(want["things"]))
	l.Expect(result.Outputs["hidden"]).To(MatchJSON(`"[secret]"`))
	l.Expect(string(result.Outputs["host"])).NotTo(ContainSubstring("admin"), "it is shown to people who may not read the secret")

	// The same holds if none of the wanted outputs is secret.
	for _, operation := range []run.Operation{run.Update, run.ReadOutputs} {
		r.Operation, r.Exists, r.Outputs = operation, true, &run.WantedOutputs{Keys: []string{"host"}}
		l.Expect(l.texts(l.do(t.Context(), r))).To(Equal(map[string]string{"host": "admin-db.example.com"}))
	}
}

func TestOutputsThatAreNamedAsASecretAreShown(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	l := newLab(t).withStack()
	r := l.update("config:\n  user: {type: string, secret: true}\n  other: {type: string, secret: true}\n" +
		"outputs: {host: h, port: 5432, database_host: d, user: \"${user}\"}\n")
	r.Secrets = map[string]string{"user": "host", "other": "port"}
	result := l.do(t.Context(), r)
	l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
	l.Expect(result.Outputs).To(HaveLen(4))
	l.Expect(result.Outputs).To(And(HaveKeyWithValue("host", quote("h")), HaveKeyWithValue("database_host", quote("d")), HaveKey("port")))
}

func TestUnknownOutputsAreNotPassedOn(t *testing.T) {
	t.Parallel()
	l := newLab(t).withProvider().withStack()
	r := l.update(l.thing("value: one", "value: two") + "outputs: {one: \"${a.value}\", two: \"${b.value}\"}\n")
	r.Options.Targets = []string{urnOf("a")}
	r.Outputs = &run.WantedOutputs{}
	l.Expect(l.texts(l.do(t.Context(), r))).To(Equal(map[string]string{"one": "one"}))
}
