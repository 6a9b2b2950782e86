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

// sigKeyProblem begins messages about values with SigKey.
const sigKeyProblem = "has " + grammar.SigKey + ", by which Pulumi marks an asset, an archive or a secret where it passes it on: "

// checkSigKey refuses SigKey wherever it is or could be produced: with
// it, the engine would open files on the controller's machine. It is refused in values
// too, where its only use is to become a key.
func checkSigKey(at *position, violations *findings) {
	const remedy = "use fn::fileAsset, fn::fileArchive, fn::stringAsset, fn::remoteAsset, fn::assetArchive or fn::secret"
	text, _ := at.text()
	switch {
	case !at.isIndex && strings.Contains(at.key, grammar.SigKey):
		violations.add(at, sigKeyProblem+remedy)
	case !at.isIndex && mayBecomeSigKey(at.key):
		violations.add(at, "may, when it is run, be the key %s, by which Pulumi marks an asset or a secret: "+
			"write the key out, or with something that is no hex digit beside the reference", grammar.SigKey)
	case grammar.HoldsFile(text):
		violations.add(at, sigKeyProblem+remedy)
	}
	at.each(func(inner *position) { checkSigKey(inner, violations) })
}

// mayBecomeSigKey reports whether a key with references could evaluate to SigKey:
// everything around the references is hex digits, or nothing.
func mayBecomeSigKey(key string) bool {
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

// checkSigKeyOfProviders does the same for the values for providers, which are in the
// project file and not in the text.
func checkSigKeyOfProviders(object map[string]any, violations *findings) {
	for _, section := range []string{"config", "configuration"} {
		declarations, _ := object[section].(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(declarations)) {
			if v1.IsOfProvider(name, declarations[name]) && grammar.HoldsFile(declarations[name]) {
				violations.add(positionOf(section, name), sigKeyProblem+"such a value cannot be given to a provider")
			}
		}
	}
}
