// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"os/exec"
	"regexp"
	"testing"

	. "github.com/onsi/gomega"
)

// engine matches what the plugin must not import: Pulumi with its engine, which is as
// large as all the rest, and the library that asks a terminal for its colours when a
// program starts. A terminal that does not answer holds up every command for seconds.
var engine = regexp.MustCompile(`(?m)^(github\.com/pulumi/|github\.com/charmbracelet/|\S*/internal/(pulumi|program/check|run/local|run/job)(/|$)).*`)

func TestThePluginHasNoPartOfPulumi(t *testing.T) {
	for _, system := range []string{"linux", "darwin", "windows"} {
		g := NewWithT(t)
		list := exec.CommandContext(t.Context(), "go", "list", "-deps", ".")
		list.Env = append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0")
		said, err := list.Output()
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(string(said)).To(ContainSubstring("/internal/observe\n"), "debug is in it")
		g.Expect(engine.FindAllString(string(said), -1)).To(BeEmpty(), system)
	}
}
