// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/plan"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// hideDiffs is a list of paths in each event of the resource.
func TestAPlanHasNoValueThatTheProgramHides(t *testing.T) {
	t.Parallel()
	l := newLab(t).withProvider()
	program := func(value string) string { return l.thing("value: " + value + "\n    options: {hideDiffs: [value]}") }
	l.given(program("one"))
	proposal := l.propose(program("two"))
	made := l.proposed(proposal)
	l.Expect(plan.Terminal(*made, 0, nil)).To(Equal(" ~ lab:index:Thing a (update)\n     ~ value: [hidden] => [hidden]\n"))
	l.Expect(l.proposed(l.propose(program("three"))).Digest()).NotTo(Equal(made.Digest()))
	update := approved(proposal, made)
	update.ID += "-update"
	result := l.do(t.Context(), update)
	l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
	l.Expect(result.Changes).To(Equal(run.Changes{Updated: 1, Same: 1}))
	l.Expect(l.valueOf("a")).To(Equal("two"))
}
