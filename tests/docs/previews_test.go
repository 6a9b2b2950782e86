// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"sigs.k8s.io/yaml"

	"github.com/flux-pulumi/pulumi-controller/tests/manifests"
	"github.com/flux-pulumi/pulumi-controller/tests/process"
)

// TestAPipelineThatPreviewsNothingFails: flux without the plugin ends with the code of a preview that has found changes.
func TestAPipelineThatPreviewsNothingFails(t *testing.T) {
	g := NewWithT(t)
	root, err := process.RepoRoot()
	g.Expect(err).NotTo(HaveOccurred())
	const name = "pull-requests.md"
	page, err := os.ReadFile(filepath.Join(root, "docs", "guides", name))
	g.Expect(err).NotTo(HaveOccurred())
	bin, tried := t.TempDir(), 0
	for program, script := range map[string]string{
		"flux": `echo 'unknown command "pulumi" for "flux"' >&2; exit 1`, "gh": "", "curl": "", "jq": "",
	} {
		g.Expect(os.WriteFile(filepath.Join(bin, program), []byte("#!/bin/sh\n"+script+"\n"), 0o755)).To(Succeed())
	}
	for _, block := range manifests.FencedBlocks(name, string(page)) {
		if !strings.Contains(block.Text, "flux pulumi preview") {
			continue
		}
		tried++
		dir := t.TempDir()
		g.Expect(runsAll(t, bin, dir, scriptsIn(t, block.Text))).To(BeFalse(), block.Text)
		comment, err := os.ReadFile(filepath.Join(dir, "comment.md"))
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(string(comment)).To(ContainSubstring("The preview has failed"))
	}
	g.Expect(tried).To(Equal(2), "one for GitHub, and one for GitLab")
}

// scriptsIn are the scripts of a workflow of GitHub, or of a job of GitLab.
func scriptsIn(t *testing.T, text string) (scripts []string) {
	t.Helper()
	var workflow struct {
		Jobs map[string]struct{ Steps []struct{ Run string } }
	}
	if yaml.Unmarshal([]byte(text), &workflow) == nil && len(workflow.Jobs) > 0 {
		for _, job := range workflow.Jobs {
			for _, step := range job.Steps {
				scripts = append(scripts, step.Run)
			}
		}
		return scripts
	}
	var jobs map[string]struct{ Script []string }
	NewWithT(t).Expect(yaml.Unmarshal([]byte(text), &jobs)).To(Succeed())
	for _, job := range jobs {
		scripts = append(scripts, job.Script...)
	}
	return scripts
}

// runsAll reports whether all scripts succeed, with the code that one of GitHub's steps passes to another.
func runsAll(t *testing.T, bin, dir string, scripts []string) bool {
	t.Helper()
	output := filepath.Join(bin, "output")
	for _, script := range scripts {
		code, _ := os.ReadFile(output) // the first step has none
		command := exec.CommandContext(t.Context(), "sh", "-e", "-c", script)
		command.Dir = dir
		command.Env = []string{"PATH=" + bin + ":/usr/bin:/bin", "GITHUB_OUTPUT=" + output, "CODE=" + strings.TrimSpace(strings.TrimPrefix(string(code), "code="))}
		if text, err := command.CombinedOutput(); err != nil {
			t.Logf("%v: %s", err, text)
			return false
		}
	}
	return true
}
