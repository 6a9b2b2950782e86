// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/flux-pulumi/pulumi-controller/internal/bounded"
)

// checkDefault compares a default with the type, which is empty if not given. Pulumi YAML
// evaluates defaults before anything else in the program, even if a Stack sets the value.
func checkDefault(standard *place, name string, invalid *found) {
	if standard == nil {
		return
	}
	references := &defaultReferences{declaration: declarationOf(standard), invalid: invalid, isRight: true}
	if references.check(standard, false); !references.isRight {
		return
	}
	wanted := kindOf(name)
	isLiteral := !isCall(standard) && standard.node.Kind != yaml.ScalarNode
	switch kind := kindOfDefault(standard); {
	case !isLiteral && isOutput(standard), kind == anAsset:
		invalid.add(standard, noDefault)
	case kind == "":
	case kind == "null":
		invalid.add(standard, "is null, which no config value can be")
	case wanted != "" && kind != wanted:
		invalid.add(standard, "must be %s, as the type says, and is %s", wanted, kind)
	case isInteger(name) && !isWhole(standard):
		invalid.add(standard, "must be an integer, as the type says")
	case kind == "a list" && !isCall(standard):
		checkDefaultList(standard, name, invalid)
	}
}

// anAsset is the kind of assets and archives.
const anAsset = "an asset"

const noDefault = "is a secret, an asset or what a function of a provider returns, and no default can be: " +
	"a config value is kept encrypted with secret: true"

// declarationOf returns the declaration that a default belongs to.
func declarationOf(at *place) *place {
	for at.parent.parent.parent != nil {
		at = at.parent
	}
	return at
}

// defaultReferences checks the references in the default of a config value.
type defaultReferences struct {
	declaration *place
	invalid     *found
	isRight     bool
}

// check refuses references to what does not exist yet when Pulumi YAML evaluates a
// default: it then has only ${pulumi} and earlier config values. Secrets are allowed only
// inside an object.
func (d *defaultReferences) check(at *place, inObject bool) {
	text, _ := at.text()
	d.checkText(at, text, inObject)
	isObject := at.isObject() && !isCall(at)
	at.each(func(inner *place) {
		d.checkText(inner, inner.key, inObject)
		d.check(inner, inObject || isObject)
	})
}

func (d *defaultReferences) checkText(at *place, text string, inObject bool) {
	for _, to := range accesses(text) {
		name := to.RootName()
		before := earlier(d.declaration, name)
		switch {
		case name == reserved, before == nil && strings.Contains(name, ":"): // may be of the project's namespace
		case before == nil:
			d.refuse(at, "refers to %s, and a default can refer to ${pulumi} and to config values that are before it in the alphabet only", bounded.Line(name, maxPath))
		case isTrue(before.get("secret")) && !inObject:
			d.refuse(at, "refers to the secret %s, and a secret can be no part of a default", bounded.Line(name, maxPath))
		}
	}
}

func (d *defaultReferences) refuse(at *place, format string, args ...any) {
	d.invalid.add(at, format, args...)
	d.isRight = false
}

// earlier returns the config value of that name if it is declared before the given one.
func earlier(declaration *place, name string) *place {
	config := declaration.parent
	for n := range len(config.node.Content) / 2 {
		switch config.node.Content[2*n].Value {
		case declaration.key:
			return nil
		case name:
			return config.field(n)
		}
	}
	return nil
}

// kindOfDefault names the kind of a default's value, or returns "" if unknown.
func kindOfDefault(at *place) string {
	if isCall(at) {
		return kindOfCall(strings.ToLower(at.node.Content[0].Value))
	}
	return knownKind(at)
}

// kindOfCall names the kind of a function's result, if it does not depend on the
// arguments.
func kindOfCall(name string) string {
	switch name {
	case "fn::filebase64", "fn::filebase64sha256", "fn::frombase64", "fn::join", "fn::readfile", "fn::sha1", "fn::tobase64", "fn::tojson":
		return "a string"
	case "fn::length":
		return "a number"
	case "fn::split":
		return "a list"
	case "fn::assetarchive", "fn::filearchive", "fn::fileasset", "fn::remotearchive", "fn::remoteasset", "fn::stringasset":
		return anAsset
	}
	return ""
}

// isWhole tells whether Pulumi YAML takes a number for an integer.
func isWhole(at *place) bool {
	number, err := strconv.ParseFloat(at.node.Value, 64)
	return err != nil || math.Mod(number, 1) == 0
}

// checkDefaultList checks the items of a default. Pulumi YAML supports lists of strings,
// numbers and booleans, and exits without a message on others.
func checkDefaultList(standard *place, name string, invalid *found) {
	if len(standard.node.Content) == 0 {
		invalid.add(standard, "is an empty list, which Pulumi YAML does not know the type of")
		return
	}
	item, _ := itemOf(name)
	wanted, before := kindOf(item), ""
	standard.each(func(at *place) {
		kind := kindOfDefault(at)
		switch {
		case isOutput(at):
			invalid.add(at, noDefault)
			return
		case kind == "":
			return
		case !slices.Contains([]string{"a string", "a number", "a boolean"}, kind):
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
