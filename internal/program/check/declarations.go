// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package check

import "strings"

// checkDeclaration checks the declaration of a config value. Pulumi reports the same
// faults, but only when it runs the program.
func checkDeclaration(at *place, invalid *found) {
	declaration().check(at, invalid)
	gives := "a default"
	if strings.Contains(at.key, ":") {
		gives = "a value" // for a provider
	}
	if !at.isObject() {
		invalid.add(at, "must be an object with a type or %s, and is %s", gives, at.kind())
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
		invalid.add(at, "has no type: give it one, or %s", gives)
		return
	}
	name := ""
	if kind != nil {
		var ok bool
		if name, ok = kind.text(); !ok {
			return // the parser reports the type
		}
		if kindOf(name) == "" {
			invalid.add(kind, "is no type: the types are String, Number, Integer, Boolean, Object, and List<...> of one of them")
			return
		}
	}
	checkDefault(standard, name, invalid)
}

// kindOf names the kind of values of a type, or returns "" if there is no such type.
func kindOf(name string) string {
	if item, ok := itemOf(name); ok {
		if kind := kindOf(item); kind == "" || kind == "a list" {
			return "" // Pulumi YAML exits without a message on a list of lists
		}
		return "a list"
	}
	switch strings.ToLower(name) {
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

// itemOf returns the type of the items of a list type.
func itemOf(name string) (string, bool) {
	inner, ok := strings.CutPrefix(strings.ToLower(name), "list<")
	inner, closed := strings.CutSuffix(inner, ">")
	return strings.TrimSpace(inner), ok && closed
}

func isInteger(name string) bool {
	return strings.EqualFold(name, "int") || strings.EqualFold(name, "integer")
}
