// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

// TestThisPackageOnlyReads proves that observing a Stack can write nothing: no code of this
// package has a client that can, or calls a method by which one does.
func TestThisPackageOnlyReads(t *testing.T) {
	g := NewWithT(t)
	writes := []string{"Create", "Update", "Patch", "Apply", "Delete", "DeleteAllOf", "SubResource"}
	readers := []string{"Reader", "Object", "ObjectList", "ObjectKey", "ObjectKeyFromObject", "GetOption", "ListOption",
		"InNamespace", "Limit", "Continue", "MatchingFields", "UnsafeDisableDeepCopy"}
	files, err := filepath.Glob("*.go")
	g.Expect(err).NotTo(HaveOccurred())
	positions, checked := token.NewFileSet(), 0
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(positions, file, nil, 0)
		g.Expect(err).NotTo(HaveOccurred())
		checked++
		ast.Inspect(parsed, func(node ast.Node) bool {
			selector, ok := node.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			at := positions.Position(node.Pos())
			if of, ok := selector.X.(*ast.Ident); ok && of.Name == "client" {
				g.Expect(readers).To(ContainElement(selector.Sel.Name), "client.%s at %s", selector.Sel.Name, at)
			}
			g.Expect(writes).NotTo(ContainElement(selector.Sel.Name), "at %s", at)
			return true
		})
	}
	g.Expect(checked).NotTo(BeZero())
}
