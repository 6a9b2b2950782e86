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

// graph holds the dependencies between resources and variables, by name.
type graph struct {
	places map[string]*place
	kinds  map[string]string
	uses   map[string][]string
	// order of the names in the text.
	order []string
}

// checkReferences finds duplicate names and cycles. It returns undeclared names, which
// are not faults, as the config of a Stack may have them.
func checkReferences(template *ast.TemplateDecl, top *place, invalid *found) []string {
	g := &graph{places: map[string]*place{}, kinds: map[string]string{}, uses: map[string][]string{}}
	config := top.get("config")
	for n, entry := range template.Config.Entries {
		g.declare("config value", entry.Key.Value, config.field(n), invalid)
	}
	providers := defaultProviders(template)
	resources, variables := top.get("resources"), top.get("variables")
	for n, entry := range template.Resources.Entries {
		if g.declare("resource", entry.Key.Value, resources.field(n), invalid) {
			g.uses[entry.Key.Value] = usesOfResource(entry.Value, providers)
		}
	}
	for n, entry := range template.Variables.Entries {
		if g.declare("variable", entry.Key.Value, variables.field(n), invalid) {
			g.uses[entry.Key.Value] = namesIn(entry.Value)
		}
	}
	if before := len(invalid.all.First); !invalid.isFull() {
		if g.checkCycles(invalid); len(invalid.all.First) == before {
			checkOrder(template, top, invalid)
		}
	}
	return g.undeclared(template)
}

// declare records a name, unless it is reserved or taken.
func (g *graph) declare(kind, name string, at *place, invalid *found) bool {
	if name == reserved {
		invalid.add(at, "cannot be the name of a %s: ${pulumi} is what Pulumi tells of the run", kind)
		return false
	}
	if other, taken := g.kinds[name]; taken {
		invalid.add(at, "is the name of a %s, too: names are those of the whole program", other)
		return false
	}
	g.places[name], g.kinds[name] = at, kind
	g.order = append(g.order, name)
	return true
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

// checkCycles reports dependency cycles.
func (g *graph) checkCycles(invalid *found) {
	const visiting, done = 1, 2
	state := map[string]int{}
	var way []string
	var visit func(string)
	visit = func(name string) {
		state[name] = visiting
		way = append(way, name)
		for _, used := range g.uses[name] {
			switch state[used] {
			case visiting:
				if invalid.isFull() {
					return
				}
				cycle := way[slices.Index(way, used):]
				invalid.add(g.places[used], "depends on itself: %s", strings.Join(append(slices.Clone(cycle[:min(len(cycle), maxNames)]), used), " -> "))
			case done:
			default:
				visit(used)
			}
		}
		way = way[:len(way)-1]
		state[name] = done
	}
	for _, name := range g.order {
		if state[name] == 0 {
			visit(name)
		}
	}
}

// undeclared lists the names that are used but not declared.
func (g *graph) undeclared(template *ast.TemplateDecl) []string {
	names := map[string]bool{}
	note := func(used []string) {
		for _, name := range used {
			if g.kinds[name] == "" && name != reserved {
				names[displayName(name)] = true
			}
		}
	}
	for _, used := range g.uses {
		note(used)
	}
	for _, entry := range template.Outputs.Entries {
		note(namesIn(entry.Value))
	}
	all := slices.Sorted(maps.Keys(names))
	return all[:min(len(all), maxNames)]
}

// displayName returns a name for display, quoted where blanks would be invisible.
func displayName(name string) string {
	if name == "" || strings.TrimSpace(name) != name {
		return strconv.Quote(name[:min(len(name), maxPath)])
	}
	return bounded.Line(name, maxPath)
}
