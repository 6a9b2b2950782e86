// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/pulumi/pulumi-yaml/pkg/pulumiyaml/ast"

	"github.com/flux-pulumi/pulumi-controller/internal/bounded"
)

// reserved is the name under which a program can refer to its own run.
const reserved = "pulumi"

// maxNames bounds the names that one message lists.
const maxNames = 10

// undeclared lists the names that a program uses without declaring them, which the config
// of a Stack may have.
func undeclared(template *ast.TemplateDecl) []string {
	declared := map[string]bool{reserved: true}
	for _, entry := range template.Config.Entries {
		declared[entry.Key.Value] = true
	}
	var used []string
	for _, entry := range template.Resources.Entries {
		declared[entry.Key.Value] = true
		used = append(used, usesOfResource(entry.Value, nil)...)
	}
	for _, entry := range template.Variables.Entries {
		declared[entry.Key.Value] = true
		used = append(used, namesIn(entry.Value)...)
	}
	for _, entry := range template.Outputs.Entries {
		used = append(used, namesIn(entry.Value)...)
	}
	names := map[string]bool{}
	for _, name := range used {
		if !declared[name] {
			names[displayName(name)] = true
		}
	}
	all := slices.Sorted(maps.Keys(names))
	return all[:min(len(all), maxNames)]
}

// defaultProviders returns the default provider resources by package. Resources that name
// no provider use these.
func defaultProviders(template *ast.TemplateDecl) map[string]string {
	providers := map[string]string{}
	for _, entry := range template.Resources.Entries {
		if r := entry.Value; r != nil && r.DefaultProvider != nil && r.DefaultProvider.Value {
			if name, ok := strings.CutPrefix(r.Type.GetValue(), providerType); ok {
				providers[name] = entry.Key.Value
			}
		}
	}
	return providers
}

func usesOfResource(r *ast.ResourceDecl, providers map[string]string) []string {
	if r == nil {
		return nil
	}
	o := r.Options
	names := namesIn(r.Properties.Expr, r.Get.Id, o.Aliases, o.DependsOn, o.Parent, o.Protect, o.Provider, o.Providers, o.ReplaceWith,
		o.DeletedWith, o.ReplacementTrigger, o.EnvVarMappings)
	if t := o.CustomTimeouts; t != nil {
		names = append(names, namesIn(t.Create, t.Update, t.Delete, t.Read)...)
	}
	entries := r.Get.State.Entries
	if r.Properties.PropertyMap != nil {
		entries = append(slices.Clone(entries), r.Properties.PropertyMap.Entries...)
	}
	for _, entry := range entries {
		names = append(names, namesIn(entry.Value)...)
	}
	name, _, _ := strings.Cut(r.Type.GetValue(), ":")
	isDefault := r.DefaultProvider != nil && r.DefaultProvider.Value
	if provider, ok := providers[name]; ok && o.Provider == nil && !isDefault {
		names = append(names, provider)
	}
	return names
}

// namesIn lists the names that expressions refer to.
func namesIn(expressions ...ast.Expr) []string {
	var names []string
	use := func(access *ast.PropertyAccess) {
		if access != nil && len(access.Accessors) > 0 {
			names = append(names, access.RootName())
		}
	}
	var visit func(ast.Expr)
	visit = func(expression ast.Expr) {
		switch e := expression.(type) {
		case *ast.SymbolExpr:
			use(e.Property)
		case *ast.InterpolateExpr:
			for _, part := range e.Parts {
				use(part.Value)
			}
		case *ast.ListExpr:
			for _, item := range e.Elements {
				visit(item)
			}
		case *ast.ObjectExpr:
			for _, entry := range e.Entries {
				visit(entry.Key)
				visit(entry.Value)
			}
		case *ast.InvokeExpr:
			visit(e.Args()) // includes the options
		case ast.BuiltinExpr:
			visit(e.Args())
		}
	}
	for _, expression := range expressions {
		visit(expression)
	}
	return names
}

// displayName returns a name for display, quoted where blanks would be invisible.
func displayName(name string) string {
	if name == "" || strings.TrimSpace(name) != name {
		return strconv.Quote(name[:min(len(name), maxPath)])
	}
	return bounded.Line(name, maxPath)
}
