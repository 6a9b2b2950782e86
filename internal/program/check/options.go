// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"time"

	"github.com/pulumi/pulumi-yaml/pkg/pulumiyaml/ast"
	"github.com/pulumi/pulumi-yaml/pkg/pulumiyaml/syntax"
)

// Pulumi checks options that may be any expression only when it runs the program. What is
// not an expression can be checked here, before the run.

// checkOptions checks the options of a resource.
func checkOptions(options *position, invalid *findings) {
	resourceOptions().check(options, invalid)
	record{"customTimeouts", timeouts()}.check(options.get("customTimeouts"), invalid)
	checkVersion(options.get("version"), invalid)
	notEmpty(options.get("import"), "and Pulumi would create the resource: give the ID of the one to import, or remove import", invalid)
	if mustBe("a boolean", options.get("protect"), invalid) {
		mustNotBeOutput(options.get("protect"), invalid)
	}
	checkResources(options, invalid)
	for _, key := range timeouts() {
		checkTimeout(options.get("customTimeouts").get(key), invalid)
	}
	if mappings := options.get("envVarMappings"); mustBe("an object", mappings, invalid) {
		eachOfLiteral(mappings, func(value *position) { mustBe("a string", value, invalid) })
	}
	checkAliases(options.get("aliases"), invalid)
	if hidden := options.get("hideDiffs"); hidden != nil {
		hidden.each(func(property *position) { notEmpty(property, "and has to be the name of a property", invalid) })
	}
}

// checkResources checks the options of a resource or a call that refer to resources.
func checkResources(options *position, invalid *findings) {
	for _, key := range []string{"deletedWith", "parent"} {
		mustBeResource(options.get(key), invalid)
	}
	mustBeProvider(options.get("provider"), invalid)
	for _, key := range []string{"dependsOn", "replaceWith"} {
		mustBeResources(options.get(key), invalid, func(item *position) { mustBeResource(item, invalid) })
	}
	mustBeResources(options.get("providers"), invalid, func(item *position) { mustBeProvider(item, invalid) })
}

func timeouts() []string { return []string{"create", "delete", "read", "update"} }

// checkTimeout checks a duration. An empty one means none to Pulumi.
func checkTimeout(at *position, invalid *findings) {
	if !mustBe("a string", at, invalid) {
		return
	}
	mustNotBeOutput(at, invalid)
	if text, known := literal(at); known && text != "" {
		if _, err := time.ParseDuration(text); err != nil {
			invalid.add(at, "is no duration, such as 30s, 5m or 1h30m")
		}
	}
}

// mustBe refuses a value known to be of another kind. It returns whether there is a value
// that may be right.
func mustBe(wanted string, at *position, invalid *findings) bool {
	kind := knownKind(at)
	if kind != "" && kind != wanted {
		invalid.add(at, "must be %s, or an expression that is one, and is %s", wanted, kind)
		return false
	}
	return at != nil
}

// notEmpty refuses an empty literal, such as an ID from an empty variable that Flux
// substitutes.
func notEmpty(at *position, remedy string, invalid *findings) {
	if id, known := literal(at); known && id == "" {
		invalid.add(at, "is empty, %s", remedy)
	}
}

// eachOfLiteral calls visit with each value of a literal list or object, and not for a
// call or a reference that evaluates to one.
func eachOfLiteral(at *position, visit func(*position)) {
	if literalKind(at) != "" {
		at.each(visit)
	}
}

// literalKind names the kind of a value that does not depend on the run. It returns "" if
// an expression determines the kind, or if there is no value. A text with embedded
// references is still a string.
func literalKind(at *position) string {
	if at == nil || isCall(at) {
		return ""
	}
	text, ok := at.text()
	if !ok {
		return at.kind()
	}
	expression, diags := ast.ParseExpr(syntax.String(text))
	if diags.HasErrors() {
		return "" // the parser reports the fault
	}
	if _, isReference := expression.(*ast.SymbolExpr); isReference {
		return ""
	}
	return at.kind()
}

// checkProperties refuses null properties, on which Pulumi deletes the resource and then
// fails, and what cannot be the ID of a resource to read.
func checkProperties(at *position, invalid *findings) {
	if properties := at.get("properties"); literalKind(properties) == "null" {
		invalid.add(properties, "must be an object, or an expression that is one, and is null")
	}
	id := at.get("get").get("id")
	mustBe("a string", id, invalid)
	notEmpty(id, "and Pulumi would fail in the run: give the ID of the resource to read, or remove get", invalid)
}
