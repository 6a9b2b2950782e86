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

// parse has Pulumi YAML's own parser read the program. It returns nil when that
// finds errors. Its warnings are left: of those that matter, the keys that are not
// known, it has not all.
func parse(top *place, invalid *found) (template *ast.TemplateDecl) {
	defer func() {
		// Whoever may write a Program must not be able to end the controller with it.
		if cause := recover(); cause != nil {
			invalid.add(top, "the parser of Pulumi YAML cannot deal with it: %v", cause)
			template = nil
		}
	}()
	known := &place{node: knownSections(top.node), line: top.line}
	tree, diags := encoding.UnmarshalYAML("Main.yaml", known.node, nil)
	if !diags.HasErrors() {
		var more syntax.Diagnostics
		template, more = ast.ParseTemplate(nil, tree)
		diags.Extend(more...)
	}
	if !diags.HasErrors() {
		return template
	}
	found := placesOf(known, tree)
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
	return nil
}

// knownSections leaves out what is no section of a program: the parser takes some
// of them for what a plugin has, and panics at others.
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

// message says what the parser says, and of what it cannot take what it is.
func message(diag *syntax.Diagnostic, at *place) string {
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

// placesOf finds the places by the ranges that the parser tells: it hands on those
// of the tree. The tree has the order of the text.
func placesOf(top *place, tree syntax.Node) map[*hcl.Range]*place {
	found := map[*hcl.Range]*place{}
	var note func(at *place, node syntax.Node)
	set := func(at *place, node syntax.Node) {
		if node == nil || node.Syntax() == nil {
			return
		}
		if where := node.Syntax().Range(); where != nil {
			found[where] = at
		}
	}
	note = func(at *place, node syntax.Node) {
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
