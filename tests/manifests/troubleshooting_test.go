// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package manifests

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/tests/process"
)

// TestManifestsTroubleshootingHasEveryReason holds the guide to the reasons that there are: those of the API, and those of
// Flux that the controller uses. A person who looks one up must find it, and must find none that never comes.
func TestManifestsTroubleshootingHasEveryReason(t *testing.T) {
	g := NewWithT(t)
	root, err := process.RepoRoot()
	g.Expect(err).NotTo(HaveOccurred())
	ours := reasonsIn(t, regexp.MustCompile(`\w+Reason\s+= "(\w+)"`), filepath.Join(root, "api", "v1"))
	// The constants of Flux are named as the reasons are.
	flux := reasonsIn(t, regexp.MustCompile(`\b(?:meta|aclv1)\.(\w+)Reason\b`),
		filepath.Join(root, "internal", "controller"), filepath.Join(root, "internal", "programs"), filepath.Join(root, "internal", "policysets"),
		filepath.Join(root, "internal", "observe"), filepath.Join(root, "internal", "stackstatus"), filepath.Join(root, "internal", "decide"))
	g.Expect(ours).To(ContainElements("UpdateFailed", "PendingOperations", "ProgramInvalid"))
	g.Expect(flux).To(ContainElements("ArtifactFailed", "DependencyNotReady", "AccessDenied", "Suspended"))

	page, err := os.ReadFile(filepath.Join(root, "docs", "guides", "troubleshooting.md"))
	g.Expect(err).NotTo(HaveOccurred())
	var sections []string
	for _, match := range regexp.MustCompile(`(?m)^### (.+)$`).FindAllStringSubmatch(string(page), -1) {
		sections = append(sections, match[1])
	}
	g.Expect(sections).To(ConsistOf(slices.Concat(ours, flux)))
}

// reasonsIn returns what the expression finds in the code of the directories, once each.
func reasonsIn(t *testing.T, expression *regexp.Regexp, directories ...string) []string {
	t.Helper()
	g := NewWithT(t)
	var reasons []string
	for _, directory := range directories {
		paths, err := filepath.Glob(filepath.Join(directory, "*.go"))
		g.Expect(err).NotTo(HaveOccurred())
		for _, path := range paths {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			code, err := os.ReadFile(path)
			g.Expect(err).NotTo(HaveOccurred())
			for _, match := range expression.FindAllStringSubmatch(string(code), -1) {
				reasons = append(reasons, strings.Join(match[1:], ""))
			}
		}
	}
	slices.Sort(reasons)
	return slices.Compact(reasons)
}
