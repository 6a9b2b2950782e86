// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package cloud_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/tests/cloud"
)

// The provider's own tests prove that it writes exactly these files.
const written = "../lab/testdata/cloud"

func TestReadsWhatTheProviderWrites(t *testing.T) {
	g := NewWithT(t)
	c := cloud.Open(written)

	value := "one"
	g.Expect(c.Things()).To(Equal([]cloud.Thing{
		{ID: "a-00000001", Name: "a", Value: &value, Tags: map[string]string{"colour": "blue"}},
		{ID: "b-00000002", Name: "b"},
	}))

	at := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	urn := "urn:pulumi:dev::lab::lab:index:Thing::a"
	g.Expect(c.Journal()).To(Equal([]cloud.Entry{
		{Time: at, PID: 7, Op: cloud.Create, Phase: cloud.Begin, ID: "a-00000001", Name: "a", URN: urn},
		{Time: at, PID: 7, Op: cloud.Create, Phase: cloud.Done, ID: "a-00000001", Name: "a", URN: urn},
		{Time: at, PID: 7, Op: cloud.Create, Phase: cloud.Begin, ID: "b-00000002", Name: "b"},
		{Time: at, PID: 7, Op: cloud.Create, Phase: cloud.Done, ID: "b-00000002", Name: "b", Error: "half made"},
		{Time: at, PID: 8, Op: cloud.Delete, Phase: cloud.Begin, ID: "a-00000001", Name: "a", URN: urn},
		{Time: at, PID: 8, Op: cloud.Delete, Phase: cloud.Failed, ID: "a-00000001", Name: "a", URN: urn, Error: "no"},
	}))
}

func TestUnusedCloudIsEmpty(t *testing.T) {
	g := NewWithT(t)
	c := cloud.Open(filepath.Join(t.TempDir(), "none"))

	g.Expect(c.Things()).To(BeEmpty())
	g.Expect(c.Journal()).To(BeEmpty())
	g.Expect(c.Created("a")).To(BeZero())
}

func TestJournal(t *testing.T) {
	line := `{"time":"2026-01-02T03:04:05Z","pid":7,"op":"create","phase":"begin","id":"a-1","name":"a"}`
	for name, test := range map[string]struct {
		text      string
		wantCount int
		wantError string
	}{
		"complete lines are read":                    {text: line + "\n" + line + "\n", wantCount: 2},
		"a truncated last line is skipped":           {text: line + "\n" + line[:40], wantCount: 1},
		"a truncated line before others is skipped":  {text: line[:40] + "\n" + line + "\n", wantCount: 1},
		"a last line that lacks its newline is read": {text: line + "\n" + line, wantCount: 2},
		"empty lines are skipped":                    {text: "\n" + line + "\n\n", wantCount: 1},
		"a line that is not an entry is an error":    {text: line + "\nhello\n", wantError: "line 2"},
		"two entries in a line are an error":         {text: line + line + "\n", wantError: "line 1"},
		"an unknown field is an error":               {text: `{"colour":"blue"}` + "\n", wantError: "colour"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			dir := t.TempDir()
			g.Expect(os.WriteFile(filepath.Join(dir, "journal.jsonl"), []byte(test.text), 0o600)).To(Succeed())

			entries, err := cloud.Open(dir).Journal()

			if test.wantError != "" {
				g.Expect(err).To(MatchError(ContainSubstring(test.wantError)))
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(entries).To(HaveLen(test.wantCount))
		})
	}
}

func TestCreated(t *testing.T) {
	entry := func(op, phase, id, name string) string {
		return `{"time":"2026-01-02T03:04:05Z","pid":7,"op":"` + op + `","phase":"` + phase + `","id":"` + id + `","name":"` + name + `"}` + "\n"
	}
	started, done := entry("create", "begin", "a-1", "a"), entry("create", "done", "a-1", "a")
	for name, test := range map[string]struct {
		journal string
		files   map[string]string
		want    int
	}{
		"a thing that exists counts": {
			journal: started + done, files: map[string]string{"a-1": `{"name":"a"}`}, want: 1},
		"a thing that was made and deleted counts": {
			journal: started + done + entry("delete", "begin", "a-1", "a") + entry("delete", "done", "a-1", "a"), want: 1},
		"a thing whose provider was killed before recording done counts": {
			journal: started, files: map[string]string{"a-1": `{"name":"a"}`}, want: 1},
		"an unfinished create does not count": {
			journal: started},
		"a create that failed does not count": {
			journal: started + entry("create", "failed", "a-1", "a")},
		"a thing made twice counts twice": {
			journal: started + done + entry("create", "begin", "a-2", "a") + entry("create", "done", "a-2", "a"), want: 2},
		"a thing renamed by an edit of its file counts under its first name": {
			journal: started, files: map[string]string{"a-1": `{"name":"z"}`}, want: 1},
		"another name does not count": {
			journal: entry("create", "begin", "ab-1", "ab") + entry("create", "done", "ab-1", "ab")},
		"reads and updates do not count": {
			journal: entry("read", "done", "a-1", "a") + entry("update", "done", "a-1", "a")},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			dir := t.TempDir()
			g.Expect(os.MkdirAll(filepath.Join(dir, "things"), 0o700)).To(Succeed())
			g.Expect(os.WriteFile(filepath.Join(dir, "journal.jsonl"), []byte(test.journal), 0o600)).To(Succeed())
			for id, text := range test.files {
				g.Expect(os.WriteFile(filepath.Join(dir, "things", id+".json"), []byte(text), 0o600)).To(Succeed())
			}

			g.Expect(cloud.Open(dir).Created("a")).To(Equal(test.want))
		})
	}
}

func TestDriftByHand(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	g.Expect(os.CopyFS(dir, os.DirFS(written))).To(Succeed())
	c := cloud.Open(dir)

	g.Expect(c.Edit("a-00000001", func(thing *cloud.Thing) { thing.Value = nil; thing.Tags["colour"] = "red" })).To(Succeed())
	g.Expect(c.Remove("b-00000002")).To(Succeed())

	g.Expect(c.Things()).To(Equal([]cloud.Thing{{ID: "a-00000001", Name: "a", Tags: map[string]string{"colour": "red"}}}))
	g.Expect(c.Edit("b-00000002", func(*cloud.Thing) {})).To(MatchError(fs.ErrNotExist))
	g.Expect(c.Remove("b-00000002")).To(MatchError(fs.ErrNotExist))
}
