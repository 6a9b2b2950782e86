// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package check

import "strings"

// Pulumi YAML evaluates resources in the order of the text, then variables, each after
// its dependencies. References in some options do not count as dependencies, so what they
// refer to may not have been evaluated yet.

// order is the order in which Pulumi YAML evaluates a program.
type order struct {
	resources, variables map[string]*position
	// providers are the default provider resources by package.
	providers map[string]string
	invalid   *findings
	// visited is what has been started, done what has been evaluated.
	visited, done map[string]bool
}

// checkOrder refuses references to what is not evaluated before.
func checkOrder(top *position, invalid *findings) {
	o := &order{
		resources: map[string]*position{}, variables: map[string]*position{}, providers: map[string]string{},
		invalid: invalid, visited: map[string]bool{}, done: map[string]bool{},
	}
	var names []string
	top.get("pulumi").eachName(func(name string) { names = append(names, name) })
	top.get("resources").entries(func(at *position) {
		o.resources[at.key] = at
		names = append(names, at.key)
		if name, ok := strings.CutPrefix(typeOf(at), providerType); ok && isTrue(at.get("defaultProvider")) {
			o.providers[name] = at.key
		}
	})
	top.get("variables").entries(func(at *position) {
		o.variables[at.key] = at
		names = append(names, at.key)
	})
	for _, name := range names {
		o.visit(name)
	}
}

func (o *order) visit(name string) {
	if o.visited[name] {
		return
	}
	o.visited[name] = true
	if resource := o.resources[name]; resource != nil {
		o.visitNeeded(resource)
		o.checkOptions(resource)
	} else {
		o.variables[name].eachName(o.visit)
	}
	o.done[name] = true
}

// visitNeeded visits what Pulumi YAML treats as dependencies of a resource.
func (o *order) visitNeeded(resource *position) {
	resource.get("properties").eachName(o.visit)
	resource.get("get").get("id").eachName(o.visit)
	options := resource.get("options")
	for _, key := range []string{"aliases", "dependsOn", "parent", "provider", "providers"} {
		options.get(key).eachName(o.visit)
	}
	name, _, _ := strings.Cut(typeOf(resource), ":")
	if provider, ok := o.providers[name]; ok && options.get("provider") == nil && !isTrue(resource.get("defaultProvider")) {
		o.visit(provider)
	}
}

// typeOf returns the type of a resource.
func typeOf(resource *position) string {
	token, _ := resource.get("type").text()
	return token
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
