// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/run/job"
)

func TestTheWorkspaceTemplateIsReadAtTheStart(t *testing.T) {
	g := NewWithT(t)
	path := filepath.Join(t.TempDir(), "template.yaml")
	_, err := readWorkspaceTemplate(path, job.Settings{})
	g.Expect(err).To(MatchError(And(ContainSubstring("--runner-workspace-template"), ContainSubstring("no such file"))))
	g.Expect(os.WriteFile(path, []byte("spec: {imagePullSecrets: []}"), 0o600)).To(Succeed())
	_, err = readWorkspaceTemplate(path, job.Settings{})
	g.Expect(err).To(MatchError("--runner-workspace-template: " + path + ": spec.imagePullSecrets is not known: remove it"))
	g.Expect(os.WriteFile(path, []byte("spec: {image: a}"), 0o600)).To(Succeed())
	defaults, err := readWorkspaceTemplate(path, job.Settings{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(defaults.Image).To(Equal("a"))
	_, err = readWorkspaceTemplate("", job.Settings{})
	g.Expect(err).NotTo(HaveOccurred())
}
