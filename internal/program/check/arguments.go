// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"encoding/base64"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Pulumi YAML checks the arguments of its functions only during the run. Arguments that
// are not expressions can be checked before, as with the options of resources.

// checkArguments checks the arguments of all functions in a value.
func checkArguments(at *position, invalid *findings) {
	if at == nil {
		return
	}
	if at.parent != nil && isCall(at.parent) {
		checkArgument(strings.ToLower(at.key), at, invalid)
	}
	at.each(func(inner *position) { checkArguments(inner, invalid) })
}

func checkArgument(name string, at *position, invalid *findings) {
	switch name {
	case "fn::join":
		checkJoin(at, invalid)
	case "fn::select":
		checkSelect(at, invalid)
	case "fn::split":
		eachOfTwo(at, func(text *position) { mustBe("a string", text, invalid) })
	case "fn::stackreference":
		eachOfTwo(at, func(text *position) {
			mustBe("a string", text, invalid)
			notEmpty(text, "and has to name a stack, and one of its outputs", invalid)
		})
	case "fn::length":
		if kind := knownKind(at); !slices.Contains([]string{"", "a list", "an object", "a string"}, kind) {
			invalid.add(at, "must be a list, an object or a string, or an expression that is one, and is %s", kind)
		}
	case "fn::singleornone":
		if mustBe("a list", at, invalid) && literalKind(at) != "" && len(at.node.Content) > 1 {
			invalid.add(at, "has %d items, and may have one", len(at.node.Content))
		}
	case "fn::frombase64":
		checkBase64(at, invalid)
	case "fn::pulumiresourcename", "fn::pulumiresourcetype":
		mustBeResource(at, invalid)
	case "fn::readfile", "fn::filebase64", "fn::filebase64sha256":
		mustBe("a string", at, invalid)
		notEmpty(at, "and has to be the path of a file", invalid)
	case "fn::tobase64", "fn::sha1", "fn::stringasset", "fn::fileasset", "fn::filearchive", "fn::remoteasset", "fn::remotearchive":
		mustBe("a string", at, invalid)
	}
}

// eachOfTwo calls visit with both arguments. The parser refuses any other number.
func eachOfTwo(at *position, visit func(*position)) {
	if len(at.node.Content) == 2 && !at.isObject() {
		at.each(visit)
	}
}

// checkJoin checks the delimiter, which may also be null, and the strings to join.
func checkJoin(at *position, invalid *findings) {
	eachOfTwo(at, func(argument *position) {
		switch {
		case argument.index == 0 && literalKind(argument) != "null":
			mustBe("a string", argument, invalid)
		case argument.index == 1 && mustBe("a list", argument, invalid):
			eachOfLiteral(argument, func(item *position) { mustBe("a string", item, invalid) })
		}
	})
}

// checkSelect checks the index, and that the list has an item at it.
func checkSelect(at *position, invalid *findings) {
	eachOfTwo(at, func(argument *position) {
		if argument.index == 1 {
			mustBe("a list", argument, invalid)
			return
		}
		if !mustBe("a number", argument, invalid) || literalKind(argument) == "" {
			return
		}
		index, err := strconv.ParseFloat(argument.node.Value, 64)
		values := at.item(1)
		switch isList := literalKind(values) == "a list"; {
		case err != nil: // hexadecimal, or with underscores
		case index < 0 || math.Trunc(index) != index:
			invalid.add(argument, "must be the number of an item: 0, 1, and so on")
		case isList && index >= float64(len(values.node.Content)):
			invalid.add(argument, "is past the end of the list, which has %d items and begins with 0", len(values.node.Content))
		}
	})
}

func checkBase64(at *position, invalid *findings) {
	text, known := literal(at)
	if !mustBe("a string", at, invalid) || !known {
		return
	}
	if decoded, err := base64.StdEncoding.DecodeString(text); err != nil || !utf8.Valid(decoded) {
		invalid.add(at, "is no text in base64")
	}
}
