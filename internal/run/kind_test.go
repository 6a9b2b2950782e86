// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"strconv"
	"testing"

	. "github.com/onsi/gomega"
)

// valuesOf returns the values of the constants of a type that the Go files define, by name.
func valuesOf(t *testing.T, files, typeName string) map[string]string {
	t.Helper()
	paths, err := filepath.Glob(files)
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]string{}
	for _, path := range paths {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(node ast.Node) bool {
			spec, ok := node.(*ast.ValueSpec)
			if !ok || spec.Type == nil || len(spec.Values) == 0 {
				return true
			}
			literal, isLiteral := spec.Values[0].(*ast.BasicLit)
			if name, isName := spec.Type.(*ast.Ident); isName && name.Name == typeName && isLiteral {
				values[spec.Names[0].Name], _ = strconv.Unquote(literal.Value)
			}
			return true
		})
	}
	if len(values) == 0 {
		t.Fatalf("no constant of type %s in %s", typeName, files)
	}
	return values
}

func TestEachKindOfRunIsDescribed(t *testing.T) {
	g := NewWithT(t)
	rows := map[Operation]Kind{}
	for _, kind := range Kinds() {
		if !kind.OnRequest && !kind.OfDrift {
			g.Expect(rows).NotTo(HaveKey(kind.Operation), "two rows for %s", kind.Operation)
			rows[kind.Operation] = kind
		}
		isComplete(t, string(kind.Operation), kind)
		g.Expect(kindOf(kind.Operation, kind.OnRequest, kind.OfDrift)).To(Equal(kind))
	}
	for name, operation := range valuesOf(t, "../../api/v1/*.go", "Operation") {
		g.Expect(rows).To(HaveKey(Operation(operation)), "Kinds has no row for v1.%s", name)
	}
}

func TestEachOutcomeIsDescribed(t *testing.T) {
	g := NewWithT(t)
	rows := map[Outcome]Effect{}
	for _, effect := range Effects() {
		g.Expect(rows).NotTo(HaveKey(effect.Outcome), "two rows for %s", effect.Outcome)
		rows[effect.Outcome] = effect
		if effect.Reason == "" {
			g.Expect(effect.Outcome).To(BeElementOf(Failed, TimedOut), "has no reason") // which is that of the kind
			effect.Reason = "of the kind"
		}
		isComplete(t, string(effect.Outcome), effect)
	}
	for name, outcome := range valuesOf(t, "*.go", "Outcome") {
		g.Expect(rows).To(HaveKey(Outcome(outcome)), "Effects has no row for %s", name)
	}
}

// isComplete checks that the row has all texts. The zero value of a bool says no.
func isComplete(t *testing.T, name string, row any) {
	t.Helper()
	value := reflect.ValueOf(row)
	for i := range value.NumField() {
		if field := value.Field(i); field.Kind() == reflect.String && field.String() == "" {
			t.Errorf("the row of %s has no %s", name, value.Type().Field(i).Name)
		}
	}
}

func TestAKindOfALaterVersionIsTakenForAnUpdate(t *testing.T) {
	g := NewWithT(t)
	later := KindOf("drift")
	g.Expect(later.Operation).To(BeEquivalentTo("drift"))
	g.Expect(later.ChangesState).To(BeTrue(), "it may have to be recovered from")
	g.Expect(later.NeedsFinalizer).To(BeTrue())
}
