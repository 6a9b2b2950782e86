// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/plan"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

// autonamed is a program that exports the name that the provider makes up for a, and passes it on.
func (l *lab) autonamed(a string) string {
	return l.program(`
  a:
    type: lab:index:Thing
    `+a+`
  b:
    type: lab:index:Thing
    properties: {name: b, value: "of ${a.name}", secretValue: {"fn::secret": "canary-${a.name}"}, tags: {of: "${a.name}"}}
`, "  name: ${a.name}\n  hidden: {\"fn::secret\": \"canary-${a.name}\"}\n")
}

// The names are others in each preview.
func TestAPlanIsTheSameWhateverNamesProvidersMakeUp(t *testing.T) {
	t.Parallel()
	l := newLab(t).withProvider().withStack()
	program := l.autonamed("properties: {value: one}")
	made := l.proposed(l.propose(program))
	l.Expect(plan.Terminal(*made, 0, nil)).To(And(ContainSubstring(` + lab:index:Thing a (create)
     + name: "a-[unknown]"  # not shown in full
     + value: "one"
 + lab:index:Thing b (create)
     + name: "b"
     + secretValue: [secret]
     + tags: {of: "a-[unknown]"}  # not shown in full
     + value: "of a-[unknown]"  # not shown in full
`), HaveSuffix(`outputs:
     + hidden: [secret]
     + name: "a-[unknown]"  # not shown in full
`)))
	result := l.do(t.Context(), approved(l.propose(strings.Replace(program, "canary-${a.name}", "evil-${a.name}", 1)), made))
	l.Expect(result.Outcome).To(Equal(run.PlanChanged), result.Message)
	l.Expect(l.things()).To(BeZero())
	result = l.do(t.Context(), approved(l.propose(program), made))
	l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
	l.Expect(l.things()).To(Equal(2))
	l.Expect(l.valueOf("b")).To(MatchRegexp(`^of a-[0-9a-f]{7}$`))
}

func TestAReplacementGetsAnotherNameAsApproved(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	l := newLab(t).withProvider()
	l.given(l.autonamed("properties: {value: one}"))
	made := l.proposed(l.propose(l.autonamed("properties: {value: two}")))
	l.Expect(plan.Terminal(*made, 0, nil)).To(Equal(" ~ lab:index:Thing a (update)\n     ~ value: \"one\" => \"two\"\n"), "an update keeps the name")

	program := l.autonamed("properties: {value: two}\n    options: {replaceOnChanges: [value]}")
	made = l.proposed(l.propose(program))
	l.Expect(made.Counts().Replace).To(Equal(1))
	l.Expect(made.Outputs).To(ContainElement(HaveField("New", BeEquivalentTo(`"a-[unknown]"`))))
	for name, other := range map[string]string{
		"a text that is like it": strings.Replace(program, "of ${a.name}", "of a-[unknown]", 1),
		"the text around it":     strings.Replace(program, "of ${a.name}", "by ${a.name}", 1),
		"an output":              strings.Replace(program, "name: ${a.name}\n", "name: \"${a.name}x\"\n", 1),
	} {
		l.Expect(l.proposed(l.propose(other)).Digest()).NotTo(Equal(made.Digest()), name)
	}
	result := l.do(t.Context(), approved(l.propose(program), made))
	l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
}
