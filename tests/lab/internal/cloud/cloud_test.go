// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package cloud_test

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/tests/lab/internal/cloud"
)

// The reader in tests/cloud is tested against the same files.
const written = "../../testdata/cloud"

func open(t *testing.T) (*cloud.Cloud, string) {
	t.Helper()
	dir := t.TempDir()
	c, err := cloud.New(dir)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return c, dir
}

func TestWritesTheFilesThatTheReaderIsTestedWith(t *testing.T) {
	g := NewWithT(t)
	c, dir := open(t)
	value := "one"
	at := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	a := cloud.Entry{Time: at, PID: 7, Op: cloud.Create, ID: "a-00000001", Name: "a", URN: "urn:pulumi:dev::lab::lab:index:Thing::a"}
	b := cloud.Entry{Time: at, PID: 7, Op: cloud.Create, ID: "b-00000002", Name: "b"}
	record := func(entry cloud.Entry, phase cloud.Phase, message string) {
		entry.Phase, entry.Error = phase, message
		g.Expect(c.Record(entry)).To(Succeed())
	}

	record(a, cloud.Begin, "")
	g.Expect(c.Create(a.ID, cloud.Thing{Name: "a", Value: &value, Tags: map[string]string{"colour": "blue"}})).To(Succeed())
	record(a, cloud.Done, "")
	record(b, cloud.Begin, "")
	g.Expect(c.Create(b.ID, cloud.Thing{Name: "b"})).To(Succeed())
	record(b, cloud.Done, "half made")
	a.PID, a.Op = 8, cloud.Delete
	record(a, cloud.Begin, "")
	record(a, cloud.Failed, "no")

	g.Expect(contents(t, dir)).To(Equal(contents(t, written)))
}

// contents returns the files of a cloud by path.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(filepath.Join(dir, path))
		files[path] = string(text)
		return err
	})
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return files
}

func TestTheLifeOfAThing(t *testing.T) {
	g := NewWithT(t)
	c, dir := open(t)
	old, changed := "old", "new"

	g.Expect(c.Create("a-1", cloud.Thing{Name: "a", Value: &old})).To(Succeed())
	g.Expect(c.Update("a-1", cloud.Thing{Name: "a", Value: &changed, Tags: map[string]string{}})).To(Succeed())
	g.Expect(c.Read("a-1")).To(Equal(cloud.Thing{Name: "a", Value: &changed, Tags: map[string]string{}}))
	g.Expect(c.Delete("a-1")).To(Succeed())

	_, err := c.Read("a-1")
	g.Expect(err).To(MatchError(cloud.ErrNotFound))
	g.Expect(c.Update("a-1", cloud.Thing{Name: "a"})).To(MatchError(cloud.ErrNotFound))
	g.Expect(c.Delete("a-1")).To(Succeed(), "deleting what is gone")
	g.Expect(contents(t, dir)).To(BeEmpty(), "nothing is left behind, no temporary file either")
}

func TestNothingIsOnDiskBeforeTheFirstOperation(t *testing.T) {
	g := NewWithT(t)
	dir := filepath.Join(t.TempDir(), "cloud")
	c, err := cloud.New(dir)
	g.Expect(err).NotTo(HaveOccurred())

	_, err = c.Read("a-1")

	g.Expect(err).To(MatchError(cloud.ErrNotFound))
	g.Expect(dir).NotTo(BeADirectory())
}

func TestADirectoryThatIsNotAbsoluteIsRefused(t *testing.T) {
	for _, dir := range []string{"", "cloud", "./cloud"} {
		_, err := cloud.New(dir)
		NewWithT(t).Expect(err).To(MatchError(ContainSubstring("absolute path")), dir)
	}
}

func TestNames(t *testing.T) {
	for name, test := range map[string]struct {
		name   string
		wantOK bool
	}{
		"a letter":             {name: "a", wantOK: true},
		"all that is allowed":  {name: "1.b-C_d", wantOK: true},
		"as long as allowed":   {name: strings.Repeat("a", 100), wantOK: true},
		"too long":             {name: strings.Repeat("a", 101)},
		"empty":                {name: ""},
		"out of the directory": {name: "../a"},
		"a path":               {name: "a/b"},
		"hidden":               {name: ".a"},
		"an end of line":       {name: "a\n"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			_, err := cloud.NewID(test.name)
			if test.wantOK {
				g.Expect(cloud.CheckName(test.name)).To(Succeed())
				g.Expect(err).NotTo(HaveOccurred())
				return
			}
			g.Expect(cloud.CheckName(test.name)).NotTo(Succeed())
			g.Expect(err).To(HaveOccurred())
		})
	}
}

func TestEveryIDIsNew(t *testing.T) {
	g := NewWithT(t)
	first, err := cloud.NewID("a")
	g.Expect(err).NotTo(HaveOccurred())
	second, err := cloud.NewID("a")
	g.Expect(err).NotTo(HaveOccurred())

	g.Expect(first).To(MatchRegexp(`^a-[0-9a-f]{8}$`))
	g.Expect(second).NotTo(Equal(first))
}

func TestAnIDDoesNotLeaveTheDirectory(t *testing.T) {
	g := NewWithT(t)
	c, dir := open(t)
	secret := filepath.Join(dir, "outside.json")
	g.Expect(os.WriteFile(secret, []byte(`{"name":"a"}`), 0o600)).To(Succeed())

	_, err := c.Read("../outside")
	g.Expect(err).To(MatchError(ContainSubstring("id of a thing")))
	g.Expect(c.Create("../outside", cloud.Thing{})).NotTo(Succeed())
	g.Expect(c.Update("../outside", cloud.Thing{})).NotTo(Succeed())
	g.Expect(c.Delete("../outside")).NotTo(Succeed())
	g.Expect(os.ReadFile(secret)).To(BeEquivalentTo(`{"name":"a"}`))
}

func TestALineAfterATornOneIsOnItsOwn(t *testing.T) {
	g := NewWithT(t)
	c, dir := open(t)
	path := filepath.Join(dir, "journal.jsonl")
	g.Expect(os.WriteFile(path, []byte(`{"time":"20`), 0o600)).To(Succeed())

	g.Expect(c.Record(cloud.Entry{Op: cloud.Create, Phase: cloud.Begin, ID: "a-1"})).To(Succeed())

	text, err := os.ReadFile(path)
	g.Expect(err).NotTo(HaveOccurred())
	lines := strings.Split(string(text), "\n")
	g.Expect(lines).To(HaveLen(3))
	g.Expect(lines[0]).To(Equal(`{"time":"20`))
	g.Expect(lines[1]).To(ContainSubstring(`"id":"a-1"`))
}

func TestLinesOfManyWritersDoNotMix(t *testing.T) {
	g := NewWithT(t)
	c, dir := open(t)
	var group sync.WaitGroup
	errs := make(chan error, 8*25)
	for writer := range 8 {
		group.Go(func() {
			for range 25 {
				errs <- c.Record(cloud.Entry{PID: writer, Op: cloud.Create, ID: "a-1", Error: strings.Repeat("x", 2000)})
			}
		})
	}
	group.Wait()
	close(errs)
	for err := range errs {
		g.Expect(err).NotTo(HaveOccurred())
	}

	text, err := os.ReadFile(filepath.Join(dir, "journal.jsonl"))
	g.Expect(err).NotTo(HaveOccurred())
	lines := bytes.Split(bytes.TrimSpace(text), []byte{'\n'})
	g.Expect(lines).To(HaveLen(8 * 25))
	for _, line := range lines {
		var entry cloud.Entry
		g.Expect(json.Unmarshal(line, &entry)).To(Succeed())
		g.Expect(entry.Error).To(HaveLen(1024), "an error text is bounded")
	}
}
