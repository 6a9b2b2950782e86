// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	. "github.com/onsi/gomega"
	"sigs.k8s.io/yaml"

	"github.com/flux-pulumi/pulumi-controller/tests/process"
)

// TestJobsThatBuildEverythingFreeTheDisk looks at the workflows for those that run the tests with all their programs: these need
// more disk than a runner of GitHub has for certain.
func TestJobsThatBuildEverythingFreeTheDisk(t *testing.T) {
	g := NewWithT(t)
	root, err := process.RepoRoot()
	g.Expect(err).NotTo(HaveOccurred())
	files, err := filepath.Glob(filepath.Join(root, ".github", "workflows", "*.yaml"))
	g.Expect(err).NotTo(HaveOccurred())
	found := 0
	for _, file := range files {
		var workflow struct {
			Jobs map[string]struct {
				Steps []struct{ Name, Run string }
			}
		}
		text, err := os.ReadFile(file)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(yaml.Unmarshal(text, &workflow)).To(Succeed(), file)
		for name, job := range workflow.Jobs {
			freed := false
			for _, step := range job.Steps {
				freed = freed || regexp.MustCompile(`^sudo rm -rf /usr/local/lib/android `).MatchString(step.Run)
				if regexp.MustCompile(`\bmake (test|test-nightly|cluster-images|e2e)\b`).MatchString(step.Run) {
					found++
					g.Expect(freed).To(BeTrue(), "%s: the job %s, before the step %q", filepath.Base(file), name, step.Name)
				}
			}
		}
	}
	g.Expect(found).To(BeNumerically(">=", 4))
}
