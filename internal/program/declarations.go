// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package program

import (
	"strings"

	"gopkg.in/yaml.v3"
)

// checkDeclaration checks the declaration of a config value. Pulumi says the same,
// but not before it runs the program.
func checkDeclaration(at *place, invalid *found) {
	declaration().check(at, invalid)
	if !at.isObject() {
		invalid.add(at, "must be an object with a type or a default, and is %s", at.kind())
		return
	}
	if value := at.get("value"); value != nil && at.get("default") != nil {
		invalid.add(value, "and default cannot both be given")
	}
	if items := at.get("items"); items != nil {
		invalid.add(items, "is for the type array only, and has a type")
	}
	kind, standard := at.get("type"), at.get("default")
	if kind == nil && standard == nil {
		invalid.add(at, "has no type: give it one, or a default")
		return
	}
	wanted := ""
	if kind != nil {
		name, ok := kind.text()
		if !ok {
			return // the parser says what it has to be
		}
		if wanted = kindOf(name); wanted == "" {
			invalid.add(kind, "is no type: the types are String, Number, Integer, Boolean, Object, and List<...> of one of them")
			return
		}
	}
	checkDefault(standard, wanted, invalid)
}

// kindOf names what a value of the type is, or nothing where there is no such type.
func kindOf(name string) string {
	name = strings.ToLower(name)
	if inner, ok := strings.CutPrefix(name, "list<"); ok {
		inner, closed := strings.CutSuffix(inner, ">")
		if !closed || kindOf(strings.TrimSpace(inner)) == "" {
			return ""
		}
		return "a list"
	}
	switch name {
	case "string":
		return "a string"
	case "number", "int", "integer":
		return "a number"
	case "bool", "boolean":
		return "a boolean"
	case "object":
		return "an object"
	}
	return ""
}

// checkDefault compares a default with the type. What an expression is, is known
// when it is evaluated.
func checkDefault(standard *place, wanted string, invalid *found) {
	if standard == nil {
		return
	}
	if text, ok := standard.text(); ok && strings.Contains(text, "${") || isCall(standard) {
		return
	}
	switch kind := standard.kind(); {
	case kind == "null":
		invalid.add(standard, "is null, which no config value can be")
	case kind == "a list" && standard.node.Kind == yaml.SequenceNode && len(standard.node.Content) == 0:
		invalid.add(standard, "is an empty list, which Pulumi YAML does not know the type of")
	case wanted != "" && kind != wanted:
		invalid.add(standard, "must be %s, as the type says, and is %s", wanted, kind)
	}
}
