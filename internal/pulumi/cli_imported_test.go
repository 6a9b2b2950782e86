// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/plan"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// Pulumi updates it at once.
func TestAPlanHasWhatChangesOfAResourceThatIsImported(t *testing.T) {
	t.Parallel()
	l := newLab(t).withProvider().withStack()
	writeTree(t, l.cloud, map[string]string{"things/found-1.json": `{"name": "found", "value": "there"}`})
	program := func(value string) string {
		return l.thing("value: one") + `  found:
    type: lab:index:Thing
    properties: {name: found, value: ` + value + `}
    options: {import: found-1}
`
	}
	made := l.proposed(l.propose(program("good")))
	l.Expect(plan.Terminal(*made, 0, nil)).To(ContainSubstring(` = lab:index:Thing found (import of found-1)
     + name: "found"
     ~ value: "there" => "good"
`))
	result := l.do(t.Context(), approved(l.propose(program("evil")), made))
	l.Expect(result.Outcome).To(Equal(run.PlanChanged), result.Message)
	result = l.do(t.Context(), approved(l.propose(program("good")), made))
	l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
	l.Expect(l.valueOf("found")).To(Equal("good"))
}
