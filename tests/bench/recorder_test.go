// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
)

// TestMain lets the test's own program stand for the CLI, as the benchmark's
// does.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == cliName {
		os.Exit(recordCLI(os.Args))
	}
	os.Exit(m.Run())
}

func TestRecorder(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	bin := filepath.Join(dir, "bin")
	g.Expect(os.Mkdir(bin, 0o700)).To(Succeed())
	script := []byte("#!/bin/sh\ncat\necho \"$@\"\nexit $STATUS\n")
	g.Expect(os.WriteFile(filepath.Join(bin, cliName), script, 0o700)).To(Succeed())
	g.Expect(os.WriteFile(filepath.Join(bin, languageHost), script, 0o700)).To(Succeed())
	recorder, err := newRecorder(filepath.Join(dir, "recorder"), filepath.Join(bin, cliName))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(recorder.take()).To(BeEmpty(), "before anything was started")

	for _, program := range []string{cliName, languageHost} {
		// Standard input is empty: nothing of it is to be waited for.
		path := map[string]string{cliName: filepath.Join(recorder.dir, cliName), languageHost: filepath.Join(filepath.Dir(recorder.CLI), languageHost)}[program]
		cmd := exec.Command(path, "--color=never", "stack", "init", "--stack", "x")
		cmd.Env = []string{"PATH=/usr/bin:/bin", "STATUS=3", "PULUMI_SKIP_UPDATE_CHECK=true", passphraseName + "=secret"}
		out, err := cmd.Output()
		g.Expect(err).To(MatchError("exit status 3"), "the status is the real one's")
		g.Expect(string(out)).To(Equal("--color=never stack init --stack x\n"), "so is what it says")
	}

	records, err := recorder.take()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(count(records, cliName)).To(Equal(1))
	g.Expect(count(records, languageHost)).To(Equal(1))
	g.Expect(peak(records)).To(BeNumerically(">", 0))
	g.Expect(records[0].Command).To(Equal("stack init"))
	g.Expect(records[0].Settings).To(Equal(map[string]string{"PATH": "/usr/bin:/bin", "PULUMI_SKIP_UPDATE_CHECK": "true"}))
	g.Expect(recorder.take()).To(BeEmpty(), "each is taken once")
}

func TestCommandOf(t *testing.T) {
	for want, args := range map[string][]string{
		"stack init": {"--non-interactive", "--color=never", "stack", "init", "--stack", "dev"},
		"up":         {"up", "--yes", "--stack", "dev"},
		"version":    {"version"},
		"":           nil,
	} {
		NewWithT(t).Expect(commandOf(args)).To(Equal(want))
	}
}

func TestParseRecords(t *testing.T) {
	g := NewWithT(t)
	_, err := parseRecords([]byte("{\"program\":\"pulumi\"}\n{\"pro"))
	g.Expect(err).To(MatchError(ContainSubstring("line 2")), "a line that was cut is not passed over")
}
