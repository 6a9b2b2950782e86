// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mattn/go-runewidth"
	. "github.com/onsi/gomega"
)

var update = flag.Bool("update", false, "update the golden files")

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		NewWithT(t).Expect(os.MkdirAll(filepath.Dir(path), 0o755)).To(Succeed())
		NewWithT(t).Expect(os.WriteFile(path, []byte(got), 0o644)).To(Succeed())
	}
	want, err := os.ReadFile(path)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	NewWithT(t).Expect(got).To(Equal(string(want)))
}

func change(old, now string) Change {
	raw := func(text string) json.RawMessage {
		if text == "" {
			return nil
		}
		return json.RawMessage(text)
	}
	return Change{Old: raw(old), New: raw(now)}
}

// everything is a plan with each kind of line.
func everything() Plan {
	p := example()
	p.Steps[0].MoreProperties = 4
	p.Steps = append(p.Steps,
		Step{Op: OpReplace, URN: urnOf("e"), Type: "lab:index:Thing", DeleteFirst: true},
		Step{Op: OpRetain, URN: urnOf("f"), Type: "lab:index:Thing"},
		Step{Op: "melt", URN: urnOf("g"), Type: "lab:index:Thing"},
		Step{Op: OpCreate, URN: urnOf("h\x1b[31m"), Type: "lab:index:Thing", Properties: []Property{
			{Path: "hidden", Kind: KindAdd, Change: change("", `"[hidden]"`)},
			{Path: "id", Kind: KindAdd, Change: change("", `"[unknown]"`)},
			{Path: "tags", Kind: KindAdd, Change: change("", `{"env":"dev","a key":[1,true,null,"\u202e"],"":{}}`)},
		}},
		Step{Op: OpUpdate, URN: urnOf("i"), Type: "lab:index:Thing", Properties: []Property{
			{Path: "code", Kind: KindUpdate, Change: change(`"[asset sha256:01]"`, `"[asset sha256:02]"`)},
			{Path: "policy", Kind: KindUpdate, Change: change(`{"kept":1,"gone":"x","is":{"a":1}}`, `{"kept":1,"new":"y","is":{"a":2}}`)},
			{Path: "script", Kind: KindUpdate, Change: change(`"#!/bin/sh\nset -e\necho one\nexit 0\n"`, "\"#!/bin/sh\\nset -e\\necho \x7f```\\necho two\\nexit 0\\n\"")},
			{Path: "text", Kind: KindUpdate, Change: change(`"`+strings.Repeat("漢字 and ", 12)+`"`, `"short"`)},
		}},
		Step{Op: OpSame, URN: urnOf("j"), Type: "lab:index:Thing", Options: protects(false)},
	)
	p.More = Counts{Delete: 3}
	p.Outputs = append(p.Outputs, Output{Name: "list", Change: change("[1,2]", "[1,3]")}, Output{Name: "new", Change: change("", `"x"`)})
	p.MoreOutputs = 2
	return p
}

func TestTerminal(t *testing.T) {
	golden(t, "terminal.txt", Terminal(everything(), 0, nil))
	narrow := Terminal(everything(), 60, nil)
	golden(t, "terminal_60.txt", narrow)
	for line := range strings.Lines(narrow) {
		NewWithT(t).Expect(runewidth.StringWidth(strings.TrimSuffix(line, "\n"))).To(BeNumerically("<=", 60), line)
	}
	golden(t, "terminal_coloured.txt", Terminal(everything(), 0, func(op, text string) string { return "<" + op + ">" + text + "</>" }))
	NewWithT(t).Expect(Terminal(Plan{}, 80, nil)).To(BeEmpty())
}

func TestMarkdown(t *testing.T) {
	golden(t, "markdown.md", Markdown(everything(), 1<<20))
	golden(t, "markdown_800.md", Markdown(everything(), 800))
	for most := 0; most < 1500; most += 7 {
		text := Markdown(everything(), most)
		NewWithT(t).Expect(len(text)).To(BeNumerically("<=", most))
		NewWithT(t).Expect(strings.Count(text, "\n````")).To(BeElementOf(0, 2), "the block is closed")
	}
	g := NewWithT(t)
	g.Expect(Markdown(Plan{}, 100)).To(Equal("**no changes**\n"))
	g.Expect(Markdown(Plan{Destroy: true}, 100)).To(Equal("**destroy of the stack: no changes**\n"))
	g.Expect(Markdown(Plan{Outputs: example().Outputs}, 1000)).To(HavePrefix("**only outputs change**\n\n```diff\n"))
}

// A plan in JSON is what was encoded.
func TestJSON(t *testing.T) {
	text, err := json.MarshalIndent(everything(), "", "  ")
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	golden(t, "plan.json", string(text)+"\n")
}

func TestDifference(t *testing.T) {
	for name, test := range map[string]struct {
		change func(p *Plan)
		want   string
	}{
		"nothing":             {func(*Plan) {}, ""},
		"order":               {func(p *Plan) { p.Steps[0], p.Steps[1] = p.Steps[1], p.Steps[0] }, ""},
		"a new resource":      {func(p *Plan) { p.Steps = append(p.Steps, Step{Op: OpDelete, URN: urnOf("d"), Type: "t"}) }, "t d is new in it (delete)"},
		"a resource less":     {func(p *Plan) { p.Steps = p.Steps[:2] }, "lab:index:Thing c is not in it any more (import)"},
		"an operation":        {func(p *Plan) { p.Steps[1].Op = OpRetain }, "lab:index:Thing b: retain instead of delete"},
		"a value":             {func(p *Plan) { p.Steps[0].Properties[0].New = json.RawMessage("1") }, "lab:index:Thing a: name differs"},
		"a secret":            {func(p *Plan) { p.Steps[0].Properties[2].Digest = "sha256:ff" }, "lab:index:Thing a: token differs"},
		"a provider":          {func(p *Plan) { p.Steps[0].Provider = "x" }, "lab:index:Thing a differs"},
		"an output":           {func(p *Plan) { p.Outputs = nil }, "output url differs"},
		"the inputs":          {func(p *Plan) { p.Inputs = "" }, "the program, config, environment or options have changed"},
		"the state":           {func(p *Plan) { p.State = "" }, "the state of the stack has changed"},
		"a version":           {func(p *Plan) { p.Versions["lab"] = "2" }, "the version of lab is 2 instead of 1.0.0"},
		"a plugin less":       {func(p *Plan) { delete(p.Versions, "lab") }, "the version of lab is none instead of 1.0.0"},
		"a verdict":           {func(p *Plan) { p.Policies = nil }, "the verdicts of policies differ"},
		"what is left out":    {func(p *Plan) { p.MoreDigest = "x" }, "resources that are not listed differ"},
		"outputs left out":    {func(p *Plan) { p.MoreOutputsDigest = "x" }, "outputs that are not listed differ"},
		"a destroy":           {func(p *Plan) { p.Destroy = true }, "one of them destroys the stack"},
		"the same step twice": {func(p *Plan) { p.Steps = append(p.Steps, p.Steps[1]) }, "a change that is not shown differs"},
		"options":             {func(p *Plan) { p.Steps[1].Options = protects(true) }, "lab:index:Thing b: its options differ"},
		"one more thing": {func(p *Plan) { p.Steps, p.Inputs = nil, "" },
			"lab:index:Thing a is not in it any more (replace); lab:index:Thing b is not in it any more (delete); lab:index:Thing c is not in it any more (import); 1 more difference"},
		"many things": {func(p *Plan) { p.Steps, p.Inputs, p.State = nil, "", "" },
			"lab:index:Thing a is not in it any more (replace); lab:index:Thing b is not in it any more (delete); lab:index:Thing c is not in it any more (import); 2 more differences"},
	} {
		t.Run(name, func(t *testing.T) {
			p := example()
			test.change(&p)
			NewWithT(t).Expect(Difference(example(), p)).To(Equal(test.want))
		})
	}
}
