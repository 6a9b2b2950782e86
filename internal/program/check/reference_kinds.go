// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"slices"
	"strings"

	"github.com/pulumi/pulumi-yaml/pkg/pulumiyaml/ast"
	"github.com/pulumi/pulumi-yaml/pkg/pulumiyaml/syntax"

	"github.com/flux-pulumi/pulumi-controller/internal/bounded"
)

// The value of a reference is known only after the run, but what it refers to is often
// known before. A resource is a resource whatever its properties, and a property of it is
// an output, whose value Pulumi YAML does not have when it reads options.
//
// Variables are followed only to find resources, because the config of a Stack may have a
// value of the same name, which takes precedence. A config value is never a resource.

// aResource is the kind of a reference to a whole resource.
const aResource = "a resource"

// maxVariables bounds how many variables are followed to find a resource.
const maxVariables = 10

// access returns the reference that a text consists of, or nil if it is anything else.
func access(at *position) *ast.PropertyAccess {
	text, ok := at.text()
	if !ok {
		return nil
	}
	expression, diags := ast.ParseExpr(syntax.String(text))
	symbol, ok := expression.(*ast.SymbolExpr)
	if !ok || diags.HasErrors() || len(symbol.Property.Accessors) == 0 {
		return nil
	}
	return symbol.Property
}

// top returns the program that contains the position.
func (p *position) top() *position {
	for p.parent != nil {
		p = p.parent
	}
	return p
}

// knownKind is literalKind, and also names the kind of a reference that can only be one
// thing.
func knownKind(at *position) string {
	to := access(at)
	if to == nil {
		return literalKind(at)
	}
	if len(to.Accessors) == 1 && at.top().get("resources").get(to.RootName()) != nil {
		return aResource
	}
	if to.RootName() == reserved {
		return kindOfReserved(to)
	}
	return ""
}

// kindOfReserved names the kind of a reference to ${pulumi}.
func kindOfReserved(to *ast.PropertyAccess) string {
	switch len(to.Accessors) {
	case 1:
		return "an object"
	case 2:
		return "a string"
	}
	return ""
}

// mustBeResource refuses anything that is not a reference to a resource. It returns the
// resource if known.
func mustBeResource(at *position, invalid *findings) *position {
	const wanted = "must be a reference to a resource, such as ${bucket}, and is "
	if kind := literalKind(at); kind != "" {
		invalid.add(at, wanted+"%s", kind)
		return nil
	}
	reportAt := at
	for range maxVariables {
		to := access(at)
		if to == nil {
			if kind := literalKind(at); kind != "" {
				invalid.add(reportAt, wanted+"%s", kind)
			}
			return nil
		}
		name, top := to.RootName(), at.top()
		resource, variable := top.get("resources").get(name), top.get("variables").get(name)
		switch isWhole := len(to.Accessors) == 1; {
		case resource != nil && isWhole:
			return resource
		case resource != nil:
			invalid.add(reportAt, wanted+"an output of the resource %s", name)
			return nil
		case variable != nil && isWhole:
			at = variable
		case variable != nil:
			return nil
		case name == reserved, top.get("config").get(name) != nil:
			invalid.add(reportAt, wanted+"a value: %s is no resource", name)
			return nil
		default:
			invalid.add(reportAt, wanted+"to %s, which is none of the program", bounded.Line(name, maxPath))
			return nil
		}
	}
	return nil
}

// mustBeProvider refuses anything that is not a reference to a provider resource.
func mustBeProvider(at *position, invalid *findings) {
	resource := mustBeResource(at, invalid)
	if token, ok := resource.get("type").text(); ok && !strings.HasPrefix(token, providerType) {
		invalid.add(at, "must be a reference to a provider, which has a type such as pulumi:providers:aws, and is %s, a %s", resource.key, token)
	}
}

// mustBeResources checks a list of references to resources, calling each for its items.
func mustBeResources(at *position, invalid *findings, each func(*position)) {
	switch {
	case at == nil:
	case knownKind(at) == aResource:
		invalid.add(at, `must be a list of references, such as ["%s"], and is a reference to one resource`, at.node.Value)
	case mustBe("a list", at, invalid):
		eachOfLiteral(at, each)
		mustNotBeOutput(at, invalid)
	}
}

// mustNotBeOutput refuses values that Pulumi YAML does not have yet when it reads an
// option.
func mustNotBeOutput(at *position, invalid *findings) {
	if literalKind(at) != "a list" && isOutput(at) {
		invalid.add(at, "is an output of a resource or a function, or a secret, whose value Pulumi YAML does not have when it reads this")
	}
}

// isOutput reports whether a value is only known once resources exist, or is a secret,
// which Pulumi passes on in the same way.
func isOutput(at *position) bool {
	if at == nil {
		return false
	}
	if isCall(at) {
		name := strings.ToLower(at.node.Content[0].Value)
		return shortCall.MatchString(name) || slices.Contains(outputCalls(), name) || isOutput(at.field(0))
	}
	if text, ok := at.text(); ok {
		return slices.ContainsFunc(accesses(text), func(to *ast.PropertyAccess) bool {
			return len(to.Accessors) > 1 && at.top().get("resources").get(to.RootName()) != nil
		})
	}
	is := false
	at.each(func(inner *position) { is = is || isOutput(inner) })
	return is
}

func outputCalls() []string {
	return []string{"fn::invoke", "fn::secret", "fn::stackreference", "fn::unsecret"}
}

// accesses returns all references in a text.
func accesses(text string) []*ast.PropertyAccess {
	if !strings.Contains(text, "${") {
		return nil
	}
	expression, diags := ast.ParseExpr(syntax.String(text))
	if diags.HasErrors() {
		return nil // the parser reports the fault
	}
	var all []*ast.PropertyAccess
	note := func(to *ast.PropertyAccess) {
		if to != nil && len(to.Accessors) > 0 {
			all = append(all, to)
		}
	}
	switch e := expression.(type) {
	case *ast.SymbolExpr:
		note(e.Property)
	case *ast.InterpolateExpr:
		for _, part := range e.Parts {
			note(part.Value)
		}
	}
	return all
}
