// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"maps"
	"slices"
	"strings"

	"github.com/pulumi/pulumi-yaml/pkg/pulumiyaml/ast"
	"github.com/pulumi/pulumi-yaml/pkg/pulumiyaml/syntax"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/grammar"
)

// wireProblem begins messages about values in wire form.
const wireProblem = "has " + grammar.SigKey + ", by which Pulumi marks an asset, an archive or a secret where it passes it on: "

// checkWire refuses the key of the wire form wherever it is or could be produced: with
// it, the engine would open files on the controller's machine. It is refused in values
// too, where its only use is to become a key.
func checkWire(at *position, violations *findings) {
	const remedy = "use fn::fileAsset, fn::fileArchive, fn::stringAsset, fn::remoteAsset, fn::assetArchive or fn::secret"
	text, _ := at.text()
	switch {
	case !at.isIndex && strings.Contains(at.key, grammar.SigKey):
		violations.add(at, wireProblem+remedy)
	case !at.isIndex && mayBecomeWire(at.key):
		violations.add(at, "may, when it is run, be the key %s, by which Pulumi marks an asset or a secret: "+
			"write the key out, or with something that is no hex digit beside the reference", grammar.SigKey)
	case grammar.HoldsFile(text):
		violations.add(at, wireProblem+remedy)
	}
	at.each(func(inner *position) { checkWire(inner, violations) })
}

// mayBecomeWire tells whether a key with references could evaluate to the key of the wire
// form: everything around the references is hex digits, or nothing.
func mayBecomeWire(key string) bool {
	if !strings.Contains(key, "${") {
		return false
	}
	expression, diags := ast.ParseExpr(syntax.String(key))
	if diags.HasErrors() {
		return false // the parser reports the fault
	}
	switch e := expression.(type) {
	case *ast.SymbolExpr:
		return true
	case *ast.InterpolateExpr:
		return !slices.ContainsFunc(e.Parts, func(part ast.Interpolation) bool {
			return strings.Trim(part.Text, "0123456789abcdef") != ""
		})
	}
	return false
}

// checkWireOfProviders does the same for the values for providers, which are in the
// project file and not in the text.
func checkWireOfProviders(object map[string]any, violations *findings) {
	for _, section := range []string{"config", "configuration"} {
		declarations, _ := object[section].(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(declarations)) {
			if v1.IsOfProvider(name, declarations[name]) && grammar.HoldsFile(declarations[name]) {
				violations.add(positionOf(section, name), wireProblem+"such a value cannot be given to a provider")
			}
		}
	}
}
