// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"math"
	"strconv"
	"strings"
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
	name := ""
	if kind != nil {
		var ok bool
		if name, ok = kind.text(); !ok {
			return // the parser says what it has to be
		}
		if kindOf(name) == "" {
			invalid.add(kind, "is no type: the types are String, Number, Integer, Boolean, Object, and List<...> of one of them")
			return
		}
	}
	checkDefault(standard, name, invalid)
}

// kindOf names what a value of the type is, or nothing where there is no such type.
func kindOf(name string) string {
	if item, ok := itemOf(name); ok {
		if kindOf(item) == "" {
			return ""
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

// itemOf is the type of the items where the type is one of a list.
func itemOf(name string) (string, bool) {
	inner, ok := strings.CutPrefix(strings.ToLower(name), "list<")
	inner, closed := strings.CutSuffix(inner, ">")
	return strings.TrimSpace(inner), ok && closed
}

func isInteger(name string) bool {
	return strings.EqualFold(name, "int") || strings.EqualFold(name, "integer")
}

// checkDefault compares a default with the type, which is empty where there is none.
// What an expression is, is known when it is evaluated.
func checkDefault(standard *place, name string, invalid *found) {
	if standard == nil {
		return
	}
	if text, ok := standard.text(); ok && strings.Contains(text, "${") || isCall(standard) {
		return
	}
	wanted := kindOf(name)
	switch kind := standard.kind(); {
	case kind == "null":
		invalid.add(standard, "is null, which no config value can be")
	case wanted != "" && kind != wanted:
		invalid.add(standard, "must be %s, as the type says, and is %s", wanted, kind)
	case isInteger(name) && !isWhole(standard):
		invalid.add(standard, "must be an integer, as the type says")
	case kind == "a list":
		checkDefaultList(standard, name, invalid)
	}
}

// isWhole tells whether a number is one that Pulumi YAML takes for an integer.
func isWhole(at *place) bool {
	number, err := strconv.ParseFloat(at.node.Value, 64)
	return err != nil || math.Mod(number, 1) == 0
}

// checkDefaultList checks the items of a default: Pulumi YAML knows lists of texts,
// of numbers and of booleans, and ends without a word at others.
func checkDefaultList(standard *place, name string, invalid *found) {
	if len(standard.node.Content) == 0 {
		invalid.add(standard, "is an empty list, which Pulumi YAML does not know the type of")
		return
	}
	item, _ := itemOf(name)
	wanted, before := kindOf(item), ""
	standard.each(func(at *place) {
		kind := literalKind(at)
		switch {
		case kind == "":
			return
		case kind != "a string" && kind != "a number" && kind != "a boolean":
			invalid.add(at, "is %s: a default can be a list of strings, of numbers or of booleans only", kind)
		case wanted != "" && kind != wanted:
			invalid.add(at, "must be %s, as the type says, and is %s", wanted, kind)
		case isInteger(item):
			invalid.add(at, "is a number, which Pulumi YAML does not take for an integer in a list: make the type List<Number>")
		case before != "" && kind != before:
			invalid.add(at, "is %s after %s: all items of a list must have the same type", kind, before)
		}
		before = kind
	})
}
