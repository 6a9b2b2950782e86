// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/xml"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

// texts returns what a reader of the picture sees, line by line.
func texts(g *WithT, picture string) (found []string) {
	decoder := xml.NewDecoder(strings.NewReader(picture))
	inside := false
	for {
		token, err := decoder.Token()
		if err == io.EOF {
			return found
		}
		g.Expect(err).NotTo(HaveOccurred())
		switch token := token.(type) {
		case xml.StartElement:
			inside = token.Name.Local == "text"
		case xml.CharData:
			if inside {
				found = append(found, string(token))
			}
		case xml.EndElement:
			inside = false
		}
	}
}

func TestTheRecordingHasWhatIsPrinted(t *testing.T) {
	g := NewWithT(t)
	var passed strings.Builder
	clock := time.Time{}
	lines, err := record(strings.NewReader("make: nothing\n== 1. A & B\n  $ cat <file>\nNAME\tREADY\t\n\nend\n"), &passed, func() time.Time {
		clock = clock.Add(time.Second)
		return clock
	})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(passed.String()).To(HavePrefix("make: nothing\n"))
	picture := render(paced(lines))
	g.Expect(texts(g, picture)).To(Equal([]string{"== 1. A & B", "  $ cat <file>", "NAME    READY", "end"}))
	g.Expect(picture).To(ContainSubstring("prefers-reduced-motion"))
	g.Expect(picture).NotTo(ContainSubstring("<script"))

	_, err = record(strings.NewReader("nothing\n"), io.Discard, time.Now)
	g.Expect(err).To(MatchError(ContainSubstring("no line begins")))
	_, err = record(strings.NewReader(strings.Repeat(title+"a\n", maxLines+1)), io.Discard, time.Now)
	g.Expect(err).To(MatchError("more than 1000 lines"))
}

func TestACommandThatFailsIsNotRecorded(t *testing.T) {
	g := NewWithT(t)
	file := filepath.Join(t.TempDir(), "made.svg")
	g.Expect(run(t.Context(), []string{file}, io.Discard)).To(MatchError(ContainSubstring("usage")))
	g.Expect(run(t.Context(), []string{file, "sh", "-c", "echo == 1; exit 3"}, io.Discard)).To(MatchError("recording sh: exit status 3"))
	g.Expect(file).NotTo(BeAnExistingFile())
	g.Expect(run(t.Context(), []string{file, "sh", "-c", "echo == 1"}, io.Discard)).To(Succeed())
	g.Expect(file).To(BeARegularFile())
}

func TestPausesAreShortAndLinesCanBeRead(t *testing.T) {
	g := NewWithT(t)
	made := paced([]line{{title + "a", 0}, {"b", 0}, {"c", time.Minute}, {command + "d", time.Minute}})
	g.Expect(made).To(Equal([]line{
		{title + "a", 0}, {"b", reading}, {"c", 2*reading + longest}, {command + "d", 3*reading + longest + breath},
	}))
}

func TestALongLineIsCut(t *testing.T) {
	g := NewWithT(t)
	g.Expect(cut(strings.Repeat("├", columns))).To(Equal(strings.Repeat("├", columns)))
	g.Expect(cut(strings.Repeat("├", columns+1))).To(Equal(strings.Repeat("├", columns-1) + "…"))
}

// TestTheRecordingIsOfThisDemo compares the titles: one that differs is of an older demo, and `make recording` makes a new one.
func TestTheRecordingIsOfThisDemo(t *testing.T) {
	g := NewWithT(t)
	picture, err := os.ReadFile(filepath.FromSlash("../../../docs/pictures/demo.svg"))
	g.Expect(err).NotTo(HaveOccurred())
	var recorded, said []string
	for _, text := range texts(g, string(picture)) {
		if shown, found := strings.CutPrefix(text, title); found {
			recorded = append(recorded, shown)
		}
	}
	for _, name := range []string{"start.go", "steps.go"} {
		source, err := os.ReadFile(filepath.Join("..", name))
		g.Expect(err).NotTo(HaveOccurred())
		for _, found := range regexp.MustCompile(`\.say\("(\d\. [^"]+)"`).FindAllStringSubmatch(string(source), -1) {
			said = append(said, found[1])
		}
	}
	g.Expect(len(said)).To(BeNumerically(">", 5))
	g.Expect(recorded).To(Equal(said))
}
