// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"time"

	"github.com/pulumi/pulumi-yaml/pkg/pulumiyaml/ast"
	"github.com/pulumi/pulumi-yaml/pkg/pulumiyaml/syntax"
)

// The options that Pulumi YAML takes any expression for are checked by Pulumi when
// it runs the program. What is no expression can be checked before, and is here. An
// expression may be anything.

// checkOptions checks the options of a resource.
func checkOptions(options *place, invalid *found) {
	resourceOptions().check(options, invalid)
	record{"customTimeouts", timeouts()}.check(options.get("customTimeouts"), invalid)
	checkVersion(options.get("version"), invalid)
	notEmpty(options.get("import"), "and Pulumi would create the resource: give the ID of the one to import, or remove import", invalid)
	mustBe("a boolean", options.get("protect"), invalid)
	for _, key := range []string{"deletedWith", "parent", "provider"} {
		mustBeResource(options.get(key), invalid)
	}
	for _, key := range []string{"dependsOn", "providers", "replaceWith"} {
		if list := options.get(key); mustBe("a list", list, invalid) {
			eachOfLiteral(list, func(item *place) { mustBeResource(item, invalid) })
		}
	}
	for _, key := range timeouts() {
		checkTimeout(options.get("customTimeouts").get(key), invalid)
	}
	if mappings := options.get("envVarMappings"); mustBe("an object", mappings, invalid) {
		eachOfLiteral(mappings, func(value *place) { mustBe("a string", value, invalid) })
	}
	checkAliases(options.get("aliases"), invalid)
	if hidden := options.get("hideDiffs"); hidden != nil {
		hidden.each(func(property *place) { notEmpty(property, "and has to be the name of a property", invalid) })
	}
}

func timeouts() []string { return []string{"create", "delete", "read", "update"} }

// checkAliases checks the aliases as far as Pulumi does: it passes over an alias
// that is a number.
func checkAliases(at *place, invalid *found) {
	if at == nil || literalKind(at) == "null" || !mustBe("a list", at, invalid) {
		return
	}
	eachOfLiteral(at, func(alias *place) {
		switch literalKind(alias) {
		case "a string":
			notEmpty(alias, "and has to be the URN that the resource had", invalid)
		case "a list":
			invalid.add(alias, "must be a URN or an object, and is a list")
		case "an object":
			record{"an alias", []string{"name", "noParent", "parent", "project", "stack", "type", "urn"}}.check(alias, invalid)
			for _, key := range []string{"name", "parent", "project", "stack", "type", "urn"} {
				mustBe("a string", alias.get(key), invalid)
			}
			notEmpty(alias.get("urn"), "and has to be the URN that the resource had", invalid)
			if noParent := alias.get("noParent"); literalKind(noParent) != "null" {
				mustBe("a boolean", noParent, invalid)
			}
		}
	})
}

// checkTimeout checks a duration. Pulumi takes an empty one for none.
func checkTimeout(at *place, invalid *found) {
	if !mustBe("a string", at, invalid) {
		return
	}
	if text, known := literal(at); known && text != "" {
		if _, err := time.ParseDuration(text); err != nil {
			invalid.add(at, "is no duration, such as 30s, 5m or 1h30m")
		}
	}
}

// mustBe refuses what is known to be something else. It tells whether there is
// something that may be right.
func mustBe(wanted string, at *place, invalid *found) bool {
	kind := literalKind(at)
	if kind != "" && kind != wanted {
		invalid.add(at, "must be %s, or an expression that is one, and is %s", wanted, kind)
		return false
	}
	return at != nil
}

// notEmpty refuses the ID of a resource that is empty, as a variable may be that Flux
// puts in.
func notEmpty(at *place, remedy string, invalid *found) {
	if id, known := literal(at); known && id == "" {
		invalid.add(at, "is empty, %s", remedy)
	}
}

// mustBeResource refuses what is no reference. One may lead to a resource or not.
func mustBeResource(at *place, invalid *found) {
	if kind := literalKind(at); kind != "" {
		invalid.add(at, "must be a reference to a resource, such as ${bucket}, and is %s", kind)
	}
}

// eachOfLiteral calls visit with each value of a list or an object that is one
// already, and no call that is.
func eachOfLiteral(at *place, visit func(*place)) {
	if literalKind(at) != "" {
		at.each(visit)
	}
}

// literalKind names what is there, whatever the run brings. It is empty where that is
// for an expression to say, and where there is nothing. A text with references in it
// is a string all the same.
func literalKind(at *place) string {
	if at == nil || isCall(at) {
		return ""
	}
	text, ok := at.text()
	if !ok {
		return at.kind()
	}
	expression, diags := ast.ParseExpr(syntax.String(text))
	if diags.HasErrors() {
		return "" // the parser says what is wrong with it
	}
	if _, isReference := expression.(*ast.SymbolExpr); isReference {
		return ""
	}
	return at.kind()
}

// checkProperties checks the properties of a resource, and that one which is read
// has none. Null is not no properties: Pulumi deletes such a resource, and then fails.
func checkProperties(at *place, invalid *found) {
	properties, get := at.get("properties"), at.get("get")
	mustBe("a string", get.get("id"), invalid)
	notEmpty(get.get("id"), "and Pulumi would fail in the run: give the ID of the resource to read, or remove get", invalid)
	if properties == nil || !mustBe("an object", properties, invalid) {
		return
	}
	properties.entries(func(property *place) { mustHaveName(property, invalid) })
	isEmpty := properties.isObject() && len(properties.node.Content) == 0
	if !isEmpty && isRead(get) {
		invalid.add(properties, "cannot be given together with get, which reads a resource that is not managed: remove one of the two")
	}
}

// isRead tells whether there is something to read a resource by.
func isRead(get *place) bool {
	state := get.get("state")
	return get.get("id") != nil || state != nil && len(state.node.Content) > 0
}
