// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	p "github.com/pulumi/pulumi-go-provider"

	"github.com/flux-pulumi/pulumi-controller/tests/lab/internal/cloud"
)

// createForEver turns this test binary into the process that TestSIGKILL kills.
const createForEver = "create-for-ever"

func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == createForEver {
		fmt.Fprintln(os.Stderr, create(os.Args[2]))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// create creates things until it is killed or fails.
func create(dir string) error {
	server, err := newServer(context.Background(), dir)
	if err != nil {
		return err
	}
	for {
		if _, err := server.Create(p.CreateRequest{Urn: urn, Properties: text("name", "a")}); err != nil {
			return err
		}
	}
}

func TestSIGKILLLeavesNoThingThatTheJournalDoesNotKnow(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	c, err := cloud.New(dir)
	g.Expect(err).NotTo(HaveOccurred())
	executable, err := os.Executable()
	g.Expect(err).NotTo(HaveOccurred())

	for round := range 10 {
		child := exec.Command(executable, createForEver, dir)
		child.Stderr = os.Stderr
		g.Expect(child.Start()).To(Succeed())
		before := journalSize(dir)
		g.Eventually(func() int64 { return journalSize(dir) }, "2m", "1ms").Should(BeNumerically(">", before+int64(500*round)))
		g.Expect(child.Process.Kill()).To(Succeed())
		g.Expect(child.Wait()).To(MatchError("signal: killed"), "the child must not have ended by itself")
	}

	started, done := phases(t, dir)
	files, err := os.ReadDir(filepath.Join(dir, "things"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(len(files)).To(BeNumerically(">=", 10))
	exists := map[string]bool{}
	for _, file := range files {
		id := strings.TrimSuffix(file.Name(), ".json")
		exists[id] = true
		g.Expect(started).To(HaveKey(id), "every thing has its begin")
		g.Expect(c.Read(id)).To(Equal(cloud.Thing{Name: "a"}), "every thing is whole")
	}
	for id := range done {
		g.Expect(exists).To(HaveKey(id), "what is recorded as done is there")
	}
}

func journalSize(dir string) int64 {
	info, err := os.Stat(filepath.Join(dir, "journal.jsonl"))
	if err != nil {
		return 0 // not created yet
	}
	return info.Size()
}

// phases returns the IDs for which the journal has a begin and a done.
func phases(t *testing.T, dir string) (started, done map[string]bool) {
	t.Helper()
	started, done = map[string]bool{}, map[string]bool{}
	for line := range strings.Lines(journal(t, dir)) {
		var entry cloud.Entry
		if json.Unmarshal([]byte(line), &entry) != nil {
			continue // empty, or torn by the kill
		}
		switch entry.Phase {
		case cloud.Begin:
			started[entry.ID] = true
		case cloud.Done:
			done[entry.ID] = true
		}
	}
	return started, done
}
