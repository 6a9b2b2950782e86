// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"github.com/pulumi/pulumi-yaml/pkg/pulumiyaml/ast"
)

// Pulumi YAML evaluates resources in the order of the text, then variables, each after
// its dependencies. References in some options do not count as dependencies, so what they
// refer to may not have been evaluated yet.

// order is the order in which Pulumi YAML evaluates a program.
type order struct {
	resources map[string]*ast.ResourceDecl
	variables map[string]ast.Expr
	providers map[string]string
	top       *position
	invalid   *findings
	// visited is what has been started, done what has been evaluated.
	visited, done map[string]bool
}

// checkOrder refuses references to what is not evaluated before. The program must have no
// cycles.
func checkOrder(template *ast.TemplateDecl, top *position, invalid *findings) {
	o := &order{
		resources: map[string]*ast.ResourceDecl{}, variables: map[string]ast.Expr{}, providers: defaultProviders(template),
		top: top, invalid: invalid, visited: map[string]bool{}, done: map[string]bool{},
	}
	var names []string
	if template.Pulumi.RequiredVersion != nil {
		names = namesIn(template.Pulumi.RequiredVersion)
	}
	for _, entry := range template.Resources.Entries {
		o.resources[entry.Key.Value] = entry.Value
		names = append(names, entry.Key.Value)
	}
	for _, entry := range template.Variables.Entries {
		o.variables[entry.Key.Value] = entry.Value
		names = append(names, entry.Key.Value)
	}
	for _, name := range names {
		o.visit(name)
	}
}

func (o *order) visit(name string) {
	if o.visited[name] {
		return
	}
	o.visited[name] = true
	if r := o.resources[name]; r != nil {
		for _, needed := range neededBy(r, o.providers) {
			o.visit(needed)
		}
		o.checkOptions(o.top.get("resources").get(name))
	} else if value := o.variables[name]; value != nil {
		for _, needed := range namesIn(value) {
			o.visit(needed)
		}
	}
	o.done[name] = true
}

// neededBy returns the names that Pulumi YAML treats as dependencies of a resource.
func neededBy(r *ast.ResourceDecl, providers map[string]string) []string {
	needed := &ast.ResourceDecl{Type: r.Type, Properties: r.Properties, DefaultProvider: r.DefaultProvider}
	needed.Get.Id = r.Get.Id
	needed.Options.DependsOn, needed.Options.Parent, needed.Options.Aliases = r.Options.DependsOn, r.Options.Parent, r.Options.Aliases
	needed.Options.Provider, needed.Options.Providers = r.Options.Provider, r.Options.Providers
	return usesOfResource(needed, providers)
}

// checkOptions checks the options that do not count as dependencies.
func (o *order) checkOptions(resource *position) {
	for _, key := range []string{"customTimeouts", "deletedWith", "envVarMappings", "protect", "replaceWith", "replacementTrigger"} {
		o.check(resource.get("options").get(key))
	}
	if get := resource.get("get"); get.get("id") != nil {
		o.check(get.get("state"))
	}
}

func (o *order) check(at *position) {
	if at == nil {
		return
	}
	text, _ := at.text()
	for _, to := range accesses(text) {
		name := to.RootName()
		switch {
		case o.done[name]:
		case o.resources[name] != nil:
			o.invalid.add(at, `refers to %s, which Pulumi YAML evaluates later: name it in dependsOn as well`, name)
		case o.variables[name] != nil:
			o.invalid.add(at, "refers to the variable %s, which Pulumi YAML evaluates later: write its value here, or make it a config value", name)
		}
	}
	at.each(o.check)
}
