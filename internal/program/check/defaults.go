// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"slices"
	"strings"

	"github.com/pulumi/pulumi-yaml/pkg/pulumiyaml/ast"
)

// Pulumi YAML checks declarations before it changes anything. What is here is what it
// exits on without a message, or ignores.

// checkDeclaration checks the declaration of a config value.
func checkDeclaration(at *position, invalid *findings) {
	declaration().check(at, invalid)
	if value := at.get("value"); value != nil && at.get("default") != nil {
		invalid.add(value, "and default cannot both be given")
	}
	if items := at.get("items"); items != nil {
		invalid.add(items, "is for the type array only, and has a type")
	}
	if name, _ := at.get("type").text(); strings.HasPrefix(strings.ToLower(name), "list<list") {
		invalid.add(at.get("type"), "is a list of lists, which no config value can be")
	}
	standard := at.get("default")
	if literalKind(standard) != "a list" {
		return
	}
	standard.each(func(item *position) {
		if slices.Contains([]string{"a list", "an object", "null"}, literalKind(item)) || isListOrAsset(item) || isOutput(item) || refersToSecret(item) {
			invalid.add(item, "must be a string, a number or a boolean that is no secret: a default can have no other items")
		}
	})
}

// isListOrAsset reports whether a function returns a list, an asset or an archive.
func isListOrAsset(at *position) bool {
	if !isCall(at) {
		return false
	}
	name := strings.ToLower(at.node.Content[0].Value)
	return name == "fn::split" || strings.HasSuffix(name, "asset") || strings.HasSuffix(name, "archive")
}

// refersToSecret reports whether a text refers to a secret config value.
func refersToSecret(at *position) bool {
	text, _ := at.text()
	return slices.ContainsFunc(accesses(text), func(to *ast.PropertyAccess) bool {
		return isTrue(at.top().get("config").get(to.RootName()).get("secret"))
	})
}
