// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/tests/process"
)

// page is a page of the documentation, with what nobody has typed yet of the commands of its sections.
type page struct {
	*WithT
	text  string
	typed map[string]bool
}

// inCode is a command in a line of text, which may continue in the next.
var inCode = regexp.MustCompile("`((?:kubectl|pulumi) [^`]+)`")

// pageOf reads a page of docs/.
func (t *tenant) pageOf(name string) *page {
	t.test.Helper()
	return pageOf(t.WithT, name)
}

func pageOf(g *WithT, name string) *page {
	return &page{WithT: g, text: textOf(g, filepath.Join("docs", name)), typed: map[string]bool{}}
}

// textOf reads a file of this repository.
func textOf(g *WithT, path string) string {
	root, err := process.RepoRoot()
	g.Expect(err).NotTo(HaveOccurred())
	text, err := os.ReadFile(filepath.Join(root, path))
	g.Expect(err).NotTo(HaveOccurred())
	return string(text)
}

// section returns the text under a heading, up to the next.
func (p *page) section(heading string) string {
	begin := regexp.MustCompile(`(?m)^##+ ` + regexp.QuoteMeta(heading) + `$`).FindStringIndex(p.text)
	p.Expect(begin).NotTo(BeNil(), "the page has no section %q", heading)
	section := p.text[begin[1]:]
	if end := regexp.MustCompile(`(?m)^##+ `).FindStringIndex(section); end != nil {
		return section[:end[0]]
	}
	return section
}

// commands lists the blocks of a section of numbered steps, and the commands in its text.
func (p *page) commands(heading string) []string {
	var commands, block []string
	var text strings.Builder
	end := func() {
		if len(block) > 0 {
			commands = append(commands, strings.Join(block, "\n"))
		}
		block = nil
	}
	const indent = "       " // of a block within a step
	for line := range strings.Lines(p.section(heading)) {
		line = strings.TrimSuffix(line, "\n")
		if inBlock, ok := strings.CutPrefix(line, indent); ok {
			block = append(block, inBlock)
			continue
		}
		end()
		text.WriteString(strings.TrimSpace(line) + " ")
	}
	end()
	for _, found := range inCode.FindAllStringSubmatch(text.String(), -1) {
		commands = append(commands, found[1])
	}
	return commands
}

// command returns the one command of a section that begins with the text, with its placeholders replaced.
func (p *page) command(heading, beginning string, replaced ...string) string {
	commands := slices.DeleteFunc(p.commands(heading), func(command string) bool { return !strings.HasPrefix(command, beginning) })
	p.Expect(commands).To(HaveLen(1), "commands under %q that begin with %q", heading, beginning)
	p.typed[commands[0]] = true
	command := strings.NewReplacer(replaced...).Replace(commands[0])
	p.Expect(command).NotTo(MatchRegexp(`<[a-z]+>`))
	return command
}

// untyped lists the commands of a section that nobody has asked for.
func (p *page) untyped(heading string) []string {
	return slices.DeleteFunc(p.commands(heading), func(command string) bool { return p.typed[command] })
}

// fenced lists the blocks of a section in that language.
func (p *page) fenced(heading, language string) (blocks []string) {
	for _, block := range regexp.MustCompile("(?s)\n```"+language+"\n(.*?)```\n").FindAllStringSubmatch(p.section(heading), -1) {
		blocks = append(blocks, block[1])
	}
	return blocks
}
