// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"strings"
	"unicode"
)

// checkURNs refuses resources with the same type, name and parent, which Pulumi cannot
// tell apart.
func checkURNs(resources *position, invalid *findings) {
	known := map[[3]string]string{}
	resources.entries(func(at *position) {
		token, isToken := at.get("type").text()
		name, isName := textOr(at.get("name"), at.key)
		parent, isParent := textOr(at.get("options").get("parent"), "")
		if !isToken || !isName || !isParent {
			return // reported by the parser, or unknown before the run
		}
		urn := [3]string{token, name, parent}
		if other, twice := known[urn]; twice {
			invalid.add(at, "has the type and the name of the resource %s, and Pulumi could not distinguish them: give one of them another name", other)
			return
		}
		known[urn] = at.key
	})
}

// textOr returns the text at a position, or other if it is missing or empty. It returns
// false if there is something else.
func textOr(at *position, other string) (string, bool) {
	text, ok := at.text()
	if text == "" {
		return other, ok || at == nil
	}
	return text, true
}

// isToken reports whether a text can be a resource type or a function name.
func isToken(text string) bool {
	parts := strings.Split(text, ":")
	if len(parts) < 2 || len(parts) > 3 {
		return false
	}
	for _, part := range parts {
		if part == "" || strings.ContainsFunc(part, unicode.IsSpace) {
			return false
		}
	}
	return true
}
