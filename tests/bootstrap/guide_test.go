// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package bootstrap

import (
	"path"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/tests/sources"
)

func saved(g Gomega) sources.Files {
	files, err := Saved()
	g.Expect(err).NotTo(HaveOccurred())
	return files
}

func TestTheTreeInTheGuideHasTheFilesItSaves(t *testing.T) {
	g := NewWithT(t)
	text, err := Guide()
	g.Expect(err).NotTo(HaveOccurred())
	_, tree, found := strings.Cut(text, "```text\n")
	g.Expect(found).To(BeTrue())
	tree, _, _ = strings.Cut(tree, "```")
	var shown, paths []string
	dir := ""
	for line := range strings.Lines(tree) {
		before, entry, isEntry := strings.Cut(line, "── ")
		if !isEntry {
			dir = strings.TrimSpace(before)
		} else if name := strings.Fields(entry)[0]; !strings.HasSuffix(name, "/") {
			shown = append(shown, dir+name)
		}
	}
	for path := range saved(g) {
		if !strings.Contains(path, "/flux-system/") {
			paths = append(paths, path)
		}
	}
	g.Expect(len(shown)).To(BeNumerically(">", 4))
	slices.Sort(shown)
	slices.Sort(paths)
	g.Expect(paths).To(Equal(shown))
}

// TestACommandOfTheGuideIsTypedWhereItsFilesAre follows the directories that the guide goes to.
func TestACommandOfTheGuideIsTypedWhereItsFilesAre(t *testing.T) {
	g := NewWithT(t)
	text, err := Guide()
	g.Expect(err).NotTo(HaveOccurred())
	const home = "/home"
	at, there, inFleet := home, map[string]bool{home: true}, 0
	for _, command := range typed(text) {
		switch words := strings.Fields(command); {
		case words[0] == "cd":
			at = path.Join(at, words[1])
			g.Expect(there).To(HaveKey(at), command)
		case strings.HasPrefix(command, "git clone "):
			g.Expect(at).To(Equal(home), "a clone within another: %s", command)
			there[path.Join(at, path.Base(strings.Trim(words[2], `"`)))] = true
		case words[0] == "make", words[0] == "docker", strings.HasPrefix(command, "git rev-parse "):
			g.Expect(at).To(Equal(home+"/pulumi-controller"), command)
		case words[0] == "git":
			g.Expect(at).To(Equal(home+"/fleet"), command)
			inFleet++
		}
	}
	g.Expect(inFleet).To(BeNumerically(">=", 6))
}

// TestThePrerequisitesOfTheGuideNameItsPrograms looks for each program of its commands in the prerequisites.
func TestThePrerequisitesOfTheGuideNameItsPrograms(t *testing.T) {
	g := NewWithT(t)
	text, err := Guide()
	g.Expect(err).NotTo(HaveOccurred())
	_, needed, found := strings.Cut(text, "\n## Prerequisites\n")
	g.Expect(found).To(BeTrue())
	needed, _, _ = strings.Cut(needed, "\n## ")
	programs := map[string]bool{}
	for _, command := range typed(text) {
		programs[strings.Fields(command)[0]] = true
	}
	for program := range programs {
		if program != "cd" && program != "export" {
			g.Expect(needed).To(ContainSubstring("`" + program + "`"))
		}
	}
	g.Expect(programs).To(HaveKey("make"))
	g.Expect(needed).To(And(ContainSubstring("Go"), ContainSubstring("Linux")), "make builds the image with Go, for Linux alone")
}

// typed returns the commands of the guide, those in blocks for a shell and those in indented blocks.
func typed(text string) (commands []string) {
	fenced, shell := false, false
	for line := range strings.Lines(text) {
		switch command := strings.TrimSpace(line); {
		case strings.HasPrefix(command, "```"):
			fenced = !fenced
			shell = fenced && command == "```sh"
		case command != "" && (shell || !fenced && strings.HasPrefix(line, "    ")):
			commands = append(commands, command)
		}
	}
	return commands
}
