// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"encoding/json"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/plan"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// resources is a program with resources and outputs.
func (l *lab) program(resources, outputs string) string {
	return l.thing() + resources + "outputs:\n" + outputs
}

// planOf previews a program.
func (l *lab) planOf(program string, change func(r *run.Run)) plan.Plan {
	l.Helper()
	r := l.update(program)
	r.Operation, r.WantsPlan = run.Preview, true
	if change != nil {
		change(&r)
	}
	result := l.do(l.Context(), r)
	l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
	l.Expect(result.Plan).NotTo(BeNil())
	return *result.Plan
}

func TestAPlanHasTheValuesThatChange(t *testing.T) {
	t.Parallel()
	l := newLab(t).withProvider()
	l.given(l.program(`
  a:
    type: lab:index:Thing
    properties: {name: a, value: x, tags: {env: dev, team: one}, secretValue: {"fn::secret": canary-old}}
  b:
    type: lab:index:Thing
    properties: {name: b, value: x}
  c:
    type: lab:index:Thing
    properties: {name: c}
`, "  kept: same\n  gone: was\n  list: [1, 2]\n  hidden: {\"fn::secret\": canary-output}\n"))
	made := l.planOf(l.program(`
  a:
    type: lab:index:Thing
    properties: {name: a, value: "y\nz", tags: {env: prod, new.key: two}, secretValue: {"fn::secret": canary-new}}
  b:
    type: lab:index:Thing
    properties: {name: b2, value: x}
  d:
    type: lab:index:Thing
    properties: {name: d, value: "${b.id}", tags: {size: "12345678901234567890"}}
`, "  kept: same\n  list: [1, 3]\n  id: ${d.id}\n  hidden: {\"fn::secret\": canary-output2}\n"), nil)
	l.Expect(plan.Terminal(made, 0, nil)).To(Equal(` ~ lab:index:Thing a (update)
     ~ secretValue: [secret] => [secret]
     ~ tags.env: "dev" => "prod"
     - tags.team: "one"
     + tags["new.key"]: "two"
     ~ value:
         - x
         + y
         + z
+- lab:index:Thing b (replace)
     ~ name: "b" => "b2"  # forces replacement
 - lab:index:Thing c (delete)
 + lab:index:Thing d (create)
     + name: "d"
     + tags: {size: "12345678901234567890"}
     + value: [unknown]
outputs:
     - gone: "was"
     + id: [unknown]
     ~ list: [1, 2] => [1, 3]
`))
	l.Expect(made.Steps[0].Provider).To(Equal("urn:pulumi:dev::demo::pulumi:providers:lab::prov"))
	text, err := json.Marshal(made)
	l.Expect(err).NotTo(HaveOccurred())
	l.Expect(string(text)).NotTo(ContainSubstring("canary"))
}
