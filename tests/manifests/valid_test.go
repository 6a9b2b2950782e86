// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package manifests

import (
	"encoding/json"
	"testing"

	. "github.com/onsi/gomega"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/program/check"
	"github.com/flux-pulumi/pulumi-controller/tests/process"
)

// TestManifestsOfProgramsAreValid expects that each Program shown is one that the controller can run.
func TestManifestsOfProgramsAreValid(t *testing.T) {
	g := NewWithT(t)
	root, err := process.RepoRoot()
	g.Expect(err).NotTo(HaveOccurred())
	units, err := Find(root)
	g.Expect(err).NotTo(HaveOccurred())
	count := 0
	for _, unit := range units {
		objects, err := unit.Objects()
		g.Expect(err).NotTo(HaveOccurred())
		for _, object := range objects {
			if object.GroupVersionKind() != v1.GroupVersion.WithKind(v1.ProgramKind) {
				continue
			}
			count++
			raw, err := json.Marshal(object.Object["program"])
			g.Expect(err).NotTo(HaveOccurred())
			checked := check.Check(raw)
			g.Expect(checked.Invalid.With(checked.SandboxViolations).String()).To(BeEmpty(), "Program %s of %s", object.GetName(), unit.Name)
		}
	}
	g.Expect(count).To(BeNumerically(">=", 2))
}
