// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package docs finds the links of the documentation that lead nowhere, to a file that is not there or to a heading that its page
// does not have, and the pages that no link leads to. It looks at this repository alone: what is elsewhere changes without it, and no
// test should fail for that.
package docs

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
)

// Page is the content of a Markdown page that matters for links.
type Page struct {
	// Anchors are the names of the headings in links, by the rules of GitHub.
	Anchors []string
	// Links are the links and images.
	Links []Link
	// HTML lists the places of tags that could be a link or an anchor, which nothing here parses.
	HTML []string
}

// Link is a link of a page, with the first line of the text around it.
type Link struct {
	Line        int
	Destination string
}

// Read parses a page.
func Read(source []byte) Page {
	var page Page
	document := goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser().Parse(text.NewReader(source))
	line := 1
	// Neither the walk nor the function can fail.
	_ = ast.Walk(document, func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		if node.Type() == ast.TypeBlock && node.Lines().Len() > 0 {
			line = 1 + bytes.Count(source[:node.Lines().At(0).Start], []byte("\n"))
		}
		switch node := node.(type) {
		case *ast.Heading:
			page.Anchors = append(page.Anchors, anchor(words(node, source), page.Anchors))
		case *ast.Link:
			page.Links = append(page.Links, Link{line, string(node.Destination)})
		case *ast.Image:
			page.Links = append(page.Links, Link{line, string(node.Destination)})
		case *ast.HTMLBlock:
			page.addHTML(line, node.Lines().Value(source))
		case *ast.RawHTML:
			page.addHTML(line, node.Segments.Value(source))
		}
		return ast.WalkContinue, nil
	})
	return page
}

// addHTML records all HTML except line breaks and comments, which are for the tools that make a site of the pages.
func (p *Page) addHTML(line int, raw []byte) {
	html := strings.TrimSpace(string(raw))
	if strings.HasPrefix(html, "<!--") || strings.HasPrefix(html, "<br") {
		return
	}
	p.HTML = append(p.HTML, fmt.Sprintf("line %d: %s", line, html))
}

// words returns the text of a heading as shown, without markup and link targets.
func words(node ast.Node, source []byte) string {
	var shown strings.Builder
	for child := node.FirstChild(); child != nil; child = child.NextSibling() {
		switch child := child.(type) {
		case *ast.Text:
			shown.Write(child.Value(source))
		case *ast.String:
			shown.Write(child.Value)
		default:
			shown.WriteString(words(child, source))
		}
	}
	return shown.String()
}

// anchor returns the name that GitHub gives to a heading: letters, digits and marks that connect are kept, spaces become hyphens, and
// the second of two equal headings gets a number.
func anchor(heading string, taken []string) string {
	name := strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || unicode.In(r, unicode.L, unicode.M, unicode.Nd, unicode.Pc):
			return unicode.ToLower(r)
		}
		return -1
	}, heading)
	unique := name
	for number := 1; slices.Contains(taken, unique); number++ {
		unique = fmt.Sprintf("%s-%d", name, number)
	}
	return unique
}
