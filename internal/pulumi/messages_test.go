// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/bounded"
	"github.com/flux-pulumi/pulumi-controller/internal/mask"
	"github.com/flux-pulumi/pulumi-controller/internal/programerror"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

var update = flag.Bool("update", false, "write the golden files of testdata/messages")

// recordedRun is the run whose directory the recordings have.
const recordedRun = "6a0f5b0c-9a3e-4c56-8d0e-3f1f1a9f3f6e"

// recording is the end of a run with a mistake in its program, as Pulumi reported it: the
// diagnostics among its events, its exit code and its standard error.
type recording struct {
	name   string
	events []string
	Exit   int    `json:"exit"`
	Stderr string `json:"stderr"`
}

func recordings(t *testing.T, language string) []recording {
	t.Helper()
	g := NewWithT(t)
	files, err := filepath.Glob(filepath.Join("testdata", "messages", language, "*.jsonl"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(files).NotTo(BeEmpty())
	var all []recording
	for _, file := range files {
		text, err := os.ReadFile(file)
		g.Expect(err).NotTo(HaveOccurred())
		lines := strings.Split(strings.TrimSpace(string(text)), "\n")
		r := recording{name: strings.TrimSuffix(filepath.Base(file), ".jsonl"), events: lines[:len(lines)-1]}
		g.Expect(json.Unmarshal([]byte(lines[len(lines)-1]), &r)).To(Succeed(), file)
		all = append(all, r)
	}
	return all
}

// maxReported bounds the lines of a recording that a golden file has.
const maxReported = 12

// reported shows the beginning of what Pulumi reported.
func (r recording) reported() string {
	var all []string
	for _, line := range r.events {
		var event engineEvent
		if json.Unmarshal([]byte(line), &event) == nil && event.Diagnostic != nil {
			text := strings.TrimSpace(event.Diagnostic.Severity + ": " + event.Diagnostic.Message)
			all = append(all, strings.Split(text, "\n")...)
		}
	}
	if r.Stderr != "" {
		all = append(all, "stderr: "+r.Stderr)
	}
	if len(all) > maxReported {
		all = append(all[:maxReported], fmt.Sprintf("(%d more lines)", len(all)-maxReported))
	}
	return strings.Join(all, "\n") + "\n"
}

// message is what the condition of the Stack says after a run that ended like that, in
// the directory of a run.
func (r recording) message(runtime, id string, memory programerror.Memory) string {
	moved := strings.NewReplacer(recordedRun, id)
	dir := Directory("/data/runs/" + id)
	e := &events{mask: mask.New(nil)}
	for _, line := range r.events {
		e.read([]byte(moved.Replace(line)))
	}
	s := &session{run: run.Run{ID: id, Operation: run.Update}, dir: dir, events: e, mask: e.mask, log: func(string) {}}
	s.prepared = &prepared{program: dir.Workspace(), project: run.Project{Name: "demo", Runtime: runtime}}
	end := ending{
		operation: run.Update, last: exit{code: r.Exit}, stderr: moved.Replace(r.Stderr), events: *e,
		program: s.failedProgram(), printed: e.printed.masked(e.mask),
	}
	end.program.Memory = memory
	_, message := outcomeOf(end)
	return bounded.Text(withoutID(end.program.Relative(message), id), maxMessage)
}

// The golden files have, for each usual mistake in a language, what Pulumi reported and
// what the condition says. The recordings of Node.js, Go, Python and YAML are those of the
// language hosts and SDKs of Pulumi 3.259.0. Those of Java and .NET are written in the
// format of public bug reports.
func TestMessagesOfMistakes(t *testing.T) {
	for _, runtime := range []string{"nodejs", "go", "python", "yaml", "java", "dotnet"} {
		t.Run(runtime, func(t *testing.T) {
			g := NewWithT(t)
			var shown strings.Builder
			for _, r := range recordings(t, runtime) {
				message := r.message(runtime, recordedRun, programerror.Memory{Limit: 2 << 30})
				fmt.Fprintf(&shown, "=== %s\n%s--- the condition\n%s\n\n", r.name, r.reported(), message)
				g.Expect(message).NotTo(BeEmpty())
				g.Expect(message).NotTo(ContainSubstring("/data/runs"), r.name)
				g.Expect(message).NotTo(MatchRegexp(`\n\s*\n`), "%s is one paragraph", r.name)
				first, _, _ := strings.Cut(message, "\n")
				g.Expect(first).NotTo(MatchRegexp(`failed with an unhandled exception|exit status \d+$|: -1$`), "the first line of %s has the cause", r.name)
				again := r.message(runtime, "0b1c2d3e-1111-2222-3333-444455556666", programerror.Memory{Limit: 2 << 30})
				g.Expect(again).To(Equal(message), "the next attempt at %s says the same", r.name)
			}
			golden := filepath.Join("testdata", "messages", runtime+".golden")
			if *update {
				g.Expect(os.WriteFile(golden, []byte(shown.String()), 0o600)).To(Succeed())
			}
			want, err := os.ReadFile(golden)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(shown.String()).To(Equal(string(want)))
		})
	}
}
