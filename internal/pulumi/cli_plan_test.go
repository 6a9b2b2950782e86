// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"
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

// The events have [secret] for any secret.
func TestAChangedSecretIsAnotherPlan(t *testing.T) {
	t.Parallel()
	l := newLab(t).withProvider()
	program := func(secret, output string) string {
		return l.program(`
  a:
    type: lab:index:Thing
    properties: {name: a, secretValue: {"fn::secret": "`+secret+`"}, tags: {kept: same}}
`, "  hidden: {token: {\"fn::secret\": "+output+"}}\n")
	}
	l.given(program("canary-old", "canary-output"))
	made := map[string]string{}
	for name, test := range map[string]struct{ secret, output, key string }{
		"none":           {"canary-old", "canary-output", "key"},
		"both":           {"canary-new", "canary-output2", "key"},
		"another value":  {"canary-other", "canary-output2", "key"},
		"another output": {"canary-new", "canary-output3", "key"},
		"another key":    {"canary-new", "canary-output2", "other"},
		"both, again":    {"canary-new", "canary-output2", "key"},
	} {
		r := l.update(program(test.secret, test.output))
		r.Operation, r.WantsPlan, r.PlanKey = run.Preview, true, test.key
		dir, result := l.doIn(t.Context(), r)
		l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
		text, err := json.Marshal(result)
		l.Expect(err).NotTo(HaveOccurred())
		l.Expect(string(text)).NotTo(ContainSubstring("canary"), name)
		program := dir.Workspace()
		l.Expect(os.RemoveAll(program)).To(Succeed(), "the program itself has the secret")
		l.Expect(l.find("canary", string(dir), l.backend, l.driver.Cache, l.calls)).To(BeEmpty(), name)
		made[name] = result.Plan.Digest()
	}
	l.Expect(strings.Join(l.saidLines(), "\n")).NotTo(ContainSubstring("canary"))
	l.Expect(made["both, again"]).To(Equal(made["both"]))
	delete(made, "both, again")
	l.Expect(slices.Compact(slices.Sorted(maps.Values(made)))).To(HaveLen(5), "%v", made)
}

// A program may put a secret of the state into any text.
func TestAPlanMasksTheSecretsOfTheState(t *testing.T) {
	t.Parallel()
	l := newLab(t).withProvider()
	program := func(value string) string {
		return l.thing("secretValue: {\"fn::secret\": canary-old}", "value: "+value)
	}
	l.given(program("x"))
	made := l.planOf(program("is canary-old"), nil)
	l.Expect(plan.Terminal(made, 0, nil)).To(Equal(" ~ lab:index:Thing b (update)\n     ~ value: [secret] => \"is ***\"  # not shown in full\n"))
	l.Expect(made.Steps[0].Properties[0].Secret).To(BeTrue())

	l.exporting("exit 1")
	unread := l.planOf(program("is canary-old"), nil)
	l.Expect(plan.Terminal(unread, 0, nil)).To(Equal(" ~ lab:index:Thing b (update)\n     ~ value: [secret] => \"...\"\n"))
}
