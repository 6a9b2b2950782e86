// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/plan"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/tests/process"
)

// A program need not name the version of a plugin: Pulumi takes the newest.
func TestAnotherVersionOfAPluginIsAnotherPlan(t *testing.T) {
	t.Parallel()
	l := newLab(t).withProvider()
	l.given(l.thing("value: one"))
	proposal := l.propose(l.thing("value: two"))
	made := l.proposed(proposal)
	l.Expect(made.Versions).To(HaveKeyWithValue("lab", "0.1.0"))

	plugin, err := process.FindBin("lab/pulumi-resource-lab")
	l.Expect(err).NotTo(HaveOccurred())
	newer := filepath.Join(l.driver.Cache, "plugins", "resource-lab-v0.2.0")
	l.Expect(os.MkdirAll(newer, 0o700)).To(Succeed())
	l.Expect(os.Symlink(plugin, filepath.Join(newer, "pulumi-resource-lab"))).To(Succeed())

	update := approved(proposal, made)
	update.ID += "-update"
	result := l.do(t.Context(), update)
	l.Expect(result.Outcome).To(Equal(run.PlanChanged), result.Message)
	l.Expect(result.Plan.Versions).To(HaveKeyWithValue("lab", "0.2.0"))
	l.Expect(plan.Difference(*made, *result.Plan)).To(Equal("the version of lab is 0.2.0 instead of 0.1.0"))
	l.Expect(l.valueOf("a")).To(Equal("one"))
}
