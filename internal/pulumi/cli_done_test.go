// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/plan"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/tests/cloud"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

// doneText is what a run has done, with the IDs of things as their names.
func (l *lab) doneText(result run.Result) string {
	l.Helper()
	if result.Done == nil {
		return ""
	}
	text, err := json.Marshal(result.Done)
	l.Expect(err).NotTo(HaveOccurred())
	l.Expect(string(text)).NotTo(MatchRegexp(`canary|[dD]igest"`))
	shown := regexp.MustCompile(`     \+ __pulumi-go-provider.*\n`).ReplaceAllString(plan.DoneTerminal(*result.Done, 0, nil), "")
	return regexp.MustCompile(`(\w+)-[0-9a-f]{8}`).ReplaceAllString(shown, "id of $1")
}

func TestAnUpdateReportsWhatItHasDone(t *testing.T) {
	t.Parallel()
	l := newLab(t).withProvider()
	first := l.program(`
  a:
    type: lab:index:Thing
    properties: {name: a, value: x, tags: {env: dev}, secretValue: {"fn::secret": canary-old}}
  b:
    type: lab:index:Thing
    properties: {name: b, value: x}
  c:
    type: lab:index:Thing
    properties: {name: c}
`, "  kept: same\n  hidden: {\"fn::secret\": canary-output}\n")
	result := l.do(t.Context(), l.update(first))
	l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
	l.Expect(l.doneText(result)).To(Equal(` + lab:index:Thing a (created)
     + name: "a"
     + secretValue: [secret]
     + tags: "..."
     + value: "x"
 + lab:index:Thing b (created)
     + name: "b"
     + value: "x"
 + lab:index:Thing c (created)
     + name: "c"
 + pulumi:providers:lab prov (created)
     + directory: "..."
outputs:
     + hidden: [secret]
     + kept: "..."
`), "nothing has read the secrets of the state")
	l.newCalls()
	result = l.do(t.Context(), l.update(first))
	l.Expect(result.Done).To(BeNil(), "it has changed nothing")
	l.Expect(l.newCalls()).To(Equal([]string{"up"}), "and so shows no values that might be secret")

	second := l.program(`
  a:
    type: lab:index:Thing
    properties: {name: a, value: is canary-new, tags: {env: prod}, secretValue: {"fn::secret": canary-new}}
  b:
    type: lab:index:Thing
    properties: {name: b2, value: x}
  d:
    type: lab:index:Thing
    properties: {name: d, value: "of ${b.id}"}
    options: {protect: true}
`, "  kept: same\n  id: ${d.id}\n")
	const want = ` ~ lab:index:Thing a (updated)
     ~ secretValue: [secret] => [secret]
     ~ tags.env: "dev" => "prod"
     ~ value: [secret] => "is ***"
+- lab:index:Thing b (replaced)
     ~ name: "b" => "b2"  # forces replacement
 - lab:index:Thing c (deleted)
 + lab:index:Thing d (created)
     + name: "d"
     + value: "of id of b2"
     + protect: true  # option
outputs:
     - hidden: [secret]
     + id: "id of d"
`
	update := approved(l.propose(second), l.proposed(l.propose(second)))
	result = l.do(t.Context(), update)
	l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
	l.Expect(l.doneText(result)).To(Equal(want), "an update that Pulumi holds to its plan previews first")
	l.Expect(strings.Join(l.saidLines(), "\n")).NotTo(ContainSubstring("canary"))
}

// Without an approval, no process reads the secrets of the state, neither before the update nor after it.
func TestWhatWasDoneHasNoValuesThatMayBeSecret(t *testing.T) {
	t.Parallel()
	l := newLab(t).withProvider()
	program := func(secret, b, c string) string {
		return l.thing("secretValue: {\"fn::secret\": "+secret+"}", b, c)
	}
	l.given(program("canary-old", "value: is canary-old", "value: abc"))
	result := l.do(t.Context(), l.update(program("canary-new", "value: x", "value: is canary-new\n      tags: {is: abcd}")))
	l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
	l.Expect(l.newCalls()).To(Equal([]string{"up"}))
	l.Expect(l.doneText(result)).To(Equal(` ~ lab:index:Thing a (updated)
     ~ secretValue: [secret] => [secret]
 ~ lab:index:Thing b (updated)
     ~ value: "..." => "x"
 ~ lab:index:Thing c (updated)
     + tags: "..."
     ~ value: [secret] => "..."
`), "the mask knows a secret of the program")
}

// A run that warns reads the state after the update, which has the secrets that were replaced only before it.
func TestWhatWasDoneHasNoSecretsOfBefore(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	l := newLab(t).withProvider()
	program := func(secret, value string) string {
		return l.thing("secretValue: {\"fn::secret\": "+secret+"}", "value: "+value)
	}
	l.given(program("canary-old", "is canary-old"))
	result := l.do(t.Context(), l.update(program("canary-new", "is now canary-new\n      warnings: {update: careful}")))
	l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
	l.Expect(l.newCalls()).To(Equal([]string{"up", "stack export"}))
	l.Expect(l.doneText(result)).To(Equal(` ~ lab:index:Thing a (updated)
     ~ secretValue: [secret] => [secret]
 ~ lab:index:Thing b (updated)
     ~ value: [secret] => "is now ***"
     + warnings: {update: "careful"}
`))
}

func TestAnUpdateOfTargetsShowsValuesIfItsStateHasNoSecrets(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	l := newLab(t).withProvider()
	l.given(l.thing("value: first", "value: first"))
	update := l.update(l.thing("value: second", "value: second"))
	update.Options.Targets = []string{urnOf("a")}
	result := l.do(t.Context(), update)
	l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
	l.Expect(l.newCalls()).To(Equal([]string{"up"}))
	l.Expect(l.doneText(result)).To(Equal(" ~ lab:index:Thing a (updated)\n     ~ value: \"first\" => \"second\"\n"))
}

func TestWhatHasFailedIsNotReportedAsDone(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	l := newLab(t).withProvider().withStack()
	program := func(name, properties string) string {
		return l.thing("value: x") + fmt.Sprintf(`  b:
    type: lab:index:Thing
    properties: {name: %s}
    options: {deleteBeforeReplace: true}
  c:
    type: lab:index:Thing
    properties: {name: c, %s}
    options: {dependsOn: ["${b}"]}
outputs: {b: "${b.name}"}
`, name, properties)
	}
	l.given(program("b", "value: x"))
	result := l.do(t.Context(), l.update(program("b2, failures: {create: no such tier}", "value: y")))
	l.Expect(result.Outcome).To(Equal(run.Failed))
	l.Expect(l.doneText(result)).To(Equal(` - lab:index:Thing b (deleted)
 ! lab:index:Thing b (replace failed)
     + failures: {create: "no such tier"}
     ~ name: "b" => "b2"  # forces replacement
`))
	result = l.do(t.Context(), l.update(program("b2", "value: y, failures: {update: no luck}")))
	l.Expect(result.Outcome).To(Equal(run.Failed))
	l.Expect(l.doneText(result)).To(Equal(` + lab:index:Thing b (created)
     + name: "b2"
 ! lab:index:Thing c (update failed)
     + failures: {update: "no luck"}
     ~ value: "x" => "y"
outputs:
     ~ b: "b" => "b2"
`))

	l = newLab(t).withProvider().withStack()
	result = l.do(t.Context(), l.update(l.thing("failures: {partialCreate: not ready}")))
	l.Expect(result.Changes).To(Equal(run.Changes{Created: 2}))
	l.Expect(l.doneText(result)).To(HavePrefix(` ! lab:index:Thing a (create failed)
     + failures: {partialCreate: "not ready"}
     + name: "a"
 + pulumi:providers:lab prov (created)
`))
	result = l.do(t.Context(), l.destroy())
	l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
	l.Expect(result.Done.Destroy).To(BeTrue())
	l.Expect(l.doneText(result)).To(Equal(` - lab:index:Thing a (deleted)
 - pulumi:providers:lab prov (deleted)
`))
}

func TestWhatARefreshHasFoundIsNotReportedAsDone(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	l := newLab(t).withProvider().withStack()
	l.given(l.thing("value: x", "value: x"))
	l.Expect(cloud.Open(l.cloud).Remove(l.idOf("b"))).To(Succeed())
	update := l.update(l.thing("value: y"))
	update.Options.Refresh = true
	result := l.do(t.Context(), update)
	l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
	l.Expect(l.doneText(result)).To(Equal(` ~ lab:index:Thing a (updated)
     ~ value: "x" => "y"
`))
}
