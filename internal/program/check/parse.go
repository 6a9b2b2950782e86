// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/pulumi/pulumi-yaml/pkg/pulumiyaml/ast"
	"github.com/pulumi/pulumi-yaml/pkg/pulumiyaml/syntax"
	"github.com/pulumi/pulumi-yaml/pkg/pulumiyaml/syntax/encoding"
	"gopkg.in/yaml.v3"
)

// parse parses the program with Pulumi YAML's own parser, and returns false if that finds
// errors. Warnings are ignored: those that matter, about unknown keys, are incomplete.
func parse(top *position, invalid *findings) (ok bool) {
	defer func() {
		// A Program must not be able to crash the controller.
		if cause := recover(); cause != nil {
			invalid.add(top, "the parser of Pulumi YAML cannot deal with it: %v", cause)
			ok = false
		}
	}()
	known := &position{node: knownSections(top.node), line: top.line}
	tree, diags := encoding.UnmarshalYAML("Main.yaml", known.node, nil)
	if !diags.HasErrors() {
		_, more := ast.ParseTemplate(nil, tree)
		diags.Extend(more...)
	}
	if !diags.HasErrors() {
		return true
	}
	found := positionsOf(known, tree)
	for _, diag := range diags {
		if diag.Severity != hcl.DiagError {
			continue
		}
		at := found[diag.Subject]
		if at == nil {
			at = top
		}
		invalid.add(at, "%s", message(diag, at))
	}
	return false
}

// knownSections removes unknown sections: the parser takes some of them for those of a
// plugin, and panics on others.
func knownSections(top *yaml.Node) *yaml.Node {
	known := *top
	known.Content = nil
	for n := 0; n+1 < len(top.Content); n += 2 {
		if slices.Contains(sections().keys, top.Content[n].Value) {
			known.Content = append(known.Content, top.Content[n], top.Content[n+1])
		}
	}
	return &known
}

// message returns the parser's message. Where the type is wrong, it adds what the value
// is.
func message(diag *syntax.Diagnostic, at *position) string {
	text := diag.Summary
	if diag.Detail != "" {
		text += ": " + diag.Detail
	}
	if !strings.Contains(text, "must be a") || strings.Contains(text, ", not ") || at.parent == nil {
		return text
	}
	if given, ok := at.text(); ok && strings.Contains(given, "${") {
		return text + ", and cannot be an expression"
	}
	text += ", and is " + at.kind()
	return text
}

// positionsOf maps the ranges in the parser's diagnostics to positions. The parser reuses the
// range pointers of the tree, which has the order of the text.
func positionsOf(top *position, tree syntax.Node) map[*hcl.Range]*position {
	found := map[*hcl.Range]*position{}
	var note func(at *position, node syntax.Node)
	set := func(at *position, node syntax.Node) {
		if node == nil || node.Syntax() == nil {
			return
		}
		if where := node.Syntax().Range(); where != nil {
			found[where] = at
		}
	}
	note = func(at *position, node syntax.Node) {
		set(at, node)
		switch node := node.(type) {
		case *syntax.ObjectNode:
			for n := range min(node.Len(), len(at.node.Content)/2) {
				entry, inner := node.Index(n), at.field(n)
				set(inner, entry.Key)
				note(inner, entry.Value)
			}
		case *syntax.ListNode:
			for n := range min(node.Len(), len(at.node.Content)) {
				note(at.item(n), node.Index(n))
			}
		}
	}
	note(top, tree)
	return found
}
