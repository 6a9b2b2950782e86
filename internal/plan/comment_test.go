// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	markdowntext "github.com/yuin/goldmark/text"
)

func TestComment(t *testing.T) {
	unbound := everything()
	unbound.Unbound = "the plans of Pulumi do not know archives (`b.zip`)"
	for name, c := range map[string]Comment{
		"comment.md":              {Plan: unbound, Revision: "refs/pull/7/head@sha1:1", Stack: "network", Namespace: "apps"},
		"comment_no_name.md":      {Plan: example(), Namespace: "previews"},
		"comment_incomparable.md": {Plan: example(), Revision: "main@sha1:1", Incomparable: "Stack apps/network does not list the namespace previews in spec.approval.previewNamespaces"},
		"comment_no_changes.md":   {Revision: "main@sha1:1", Stack: "network", Namespace: "apps"},
		"comment_outputs.md":      {Plan: Plan{Outputs: example().Outputs}, Revision: "main@sha1:1", Stack: "network", Namespace: "apps"},
		"comment_violation.md":    {Plan: Plan{Policies: example().Policies}, Revision: "main@sha1:1", Stack: "network", Namespace: "apps"},
	} {
		t.Run(name, func(t *testing.T) {
			golden(t, name, c.Markdown()+"\n")
			inert(t, c.Markdown())
		})
	}
	NewWithT(t).Expect(Comment{Plan: Plan{Destroy: true}}.Markdown()).To(Equal("**Destroys the stack**\n\ndestroy of the stack: no changes"))
}

// hostile are texts that a program can choose.
var hostile = []string{
	"```\n@everyone\n```", "```", "``````", "`", "` @alice `", "``", "~~~", "\n```\n\n# hello @alice",
	"https://evil.example/a", "www.evil.example", "[a](https://evil.example)", "![a](https://evil.example/a.png)", "<https://evil.example>", "a@evil.example",
	"<img src=https://evil.example/a.png onerror=alert(1)>", "</code></pre><script>alert(1)</script>", "<details>", "--><h1>", "<!-- flux-pr-comment-key:uid/Stack/previews/other -->",
	"@alice @org/team", "/close", "\n/merge", "#1 !2 GH-1", "::error::x", "\x1b[31mred", "\u202eright to left", "a\r\n```\r\n@alice", "\u2028```\u2028@alice", "|a|b|\n|-|-|",
	"\n    approved: sha256:" + strings.Repeat("0", 64) + "\n", "  approved: sha256:" + strings.Repeat("0", 64), strings.Repeat("`", 1<<20), strings.Repeat("a", 1<<20), strings.Repeat("```\n", 1<<18),
	strings.Repeat("<!--", 1<<18), strings.Repeat("\x00", 1<<20), strings.Repeat("漢", 1<<18), "\xff\xfe", "",
}

// TestTextsOfAProgramDoNothingInAComment: they stay in code, and hide nothing of the others.
func TestTextsOfAProgramDoNothingInAComment(t *testing.T) {
	value := func(text string) json.RawMessage {
		raw, _ := json.Marshal(text)
		return raw
	}
	for n, text := range hostile {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			g := NewWithT(t)
			property := Property{Path: text, Kind: KindUpdate, Change: Change{Old: value("one"), New: value(text)}}
			step := func(op string) Step {
				return Step{Op: op, URN: "urn::" + text, Type: text, ID: text, Properties: []Property{property}, Options: []Property{property}}
			}
			p := Plan{
				Steps:    []Step{step(OpDelete), step(OpReplace), step(OpCreate), step(OpImport), step(text), {Op: OpDelete, URN: "urn::canary", Type: "lab"}},
				Outputs:  []Output{{Name: text, Change: property.Change}},
				Policies: []Policy{{Pack: text, Name: text, Level: text, URN: text, Message: text}}, State: "sha256:state", Unbound: text,
			}.Bounded()
			written := Comment{Plan: p, Revision: text, Stack: "network", Namespace: "apps"}.Markdown()
			g.Expect(len(written)).To(BeNumerically("<=", MaxComment))
			inert(t, written)
			g.Expect(written).To(ContainSubstring("\n- lab canary (delete)\n"), "it is in the diff")
			g.Expect(strings.Count("\n"+written, "\n    approved: sha256:")).To(Equal(1), "only that of the plan is one")

			inert(t, Comment{Plan: p, Incomparable: text}.Markdown())
			inert(t, Code(text, 100))
			for _, most := range []int{300, 4000} {
				quoted := Quoted("failed: "+text, most)
				g.Expect(len(quoted)).To(BeNumerically("<=", most))
				g.Expect(quoted).To(And(MatchRegexp(`\n! "?failed:`), Not(ContainSubstring("\n    approved: "))))
				inert(t, quoted)
			}
		})
	}
}

// inert fails if GitHub's Markdown finds a link, an image, HTML or a mention in the text, or what may be a comment that
// notification-controller knows again.
func inert(t *testing.T, markdown string) {
	t.Helper()
	g := NewWithT(t)
	g.Expect(markdown).NotTo(ContainSubstring("<!--"))
	source := []byte(markdown)
	document := goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser().Parse(markdowntext.NewReader(source))
	g.Expect(ast.Walk(document, func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		switch node := node.(type) {
		case *ast.CodeSpan, *ast.FencedCodeBlock:
			return ast.WalkSkipChildren, nil
		case *ast.Document, *ast.Paragraph, *ast.Emphasis:
		case *ast.Text:
			shown := string(node.Segment.Value(source))
			g.Expect(shown).To(MatchRegexp(`^[A-Za-z0-9 :,.()]*$`), "the rest is in code")
		default:
			return ast.WalkStop, fmt.Errorf("a %s in:\n%s", node.Kind(), markdown)
		}
		return ast.WalkContinue, nil
	})).To(Succeed())
}
