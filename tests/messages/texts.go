// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package messages lists the texts of the controller and of its plugin that a person may read: messages of conditions and events,
// errors that end in them, logs, and the help of flags and commands. The list is testdata/messages.txt, for a review of the words.
package messages

import (
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// file has the texts of one file of Go, sorted.
type file struct {
	path  string
	texts []string
}

// prose has two words in a row. Names of fields, paths and formats have none.
var prose = regexp.MustCompile(`\pL[\pL'-]*[,;:]? (\pL|%)|%[a-z][,;:]? \pL`)

// notRead are the functions whose arguments nobody reads: they look for a text in what others wrote.
var notRead = map[string]bool{
	"MustCompile": true, "Contains": true, "HasPrefix": true, "HasSuffix": true, "Cut": true, "CutPrefix": true, "CutSuffix": true,
	"Index": true, "TrimPrefix": true, "TrimSuffix": true, "Split": true, "Fields": true,
}

// collect reads the code below root that is part of the controller or of its plugin, sorted by its path.
func collect(root string) ([]file, error) {
	var files []file
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir():
			if outside(name) {
				return fs.SkipDir
			}
			return nil
		case path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		texts, err := textsOf(filepath.Join(root, name))
		if len(texts) > 0 {
			files = append(files, file{path: name, texts: texts})
		}
		return err
	})
	slices.SortFunc(files, func(a, b file) int {
		return cmp.Or(cmp.Compare(path.Dir(a.path), path.Dir(b.path)), cmp.Compare(a.path, b.path))
	})
	return files, err
}

// outside lists what is no part of the two programs. The texts of api are in the CRDs.
func outside(directory string) bool {
	return directory != "." && directory != "cmd" && directory != "internal" && !strings.Contains(directory, "/") ||
		path.Base(directory) == "testdata"
}

func textsOf(name string) ([]string, error) {
	parsed, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var texts []string
	var visit func(ast.Node) bool
	visit = func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.ImportSpec, *ast.Field: // a field may have a tag
			return false
		case *ast.CallExpr:
			return !notRead[nameOf(node.Fun)]
		case *ast.BinaryExpr:
			if node.Op != token.ADD {
				return true
			}
			text, others := join(node)
			texts = appendProse(texts, text)
			for _, other := range others {
				ast.Inspect(other, visit)
			}
			return false
		case *ast.BasicLit:
			text, _ := join(node)
			texts = appendProse(texts, text)
		}
		return true
	}
	ast.Inspect(parsed, visit)
	slices.Sort(texts)
	return slices.Compact(texts), nil
}

func appendProse(texts []string, text string) []string {
	if prose.MatchString(text) {
		return append(texts, strings.TrimSpace(text))
	}
	return texts
}

func nameOf(function ast.Expr) string {
	switch function := function.(type) {
	case *ast.SelectorExpr:
		return function.Sel.Name
	case *ast.Ident:
		return function.Name
	}
	return ""
}

// join returns the text of literals that are added, with an ellipsis for each of the other expressions.
func join(expression ast.Expr) (text string, others []ast.Expr) {
	switch expression := expression.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(expression.Value)
		if err != nil || expression.Kind != token.STRING {
			return "", nil
		}
		return text, nil
	case *ast.ParenExpr:
		return join(expression.X)
	case *ast.BinaryExpr:
		if expression.Op != token.ADD {
			break
		}
		left, others := join(expression.X)
		right, more := join(expression.Y)
		return left + right, append(others, more...)
	}
	return "…", []ast.Expr{expression}
}
