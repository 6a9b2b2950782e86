// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"fmt"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

// A name with a colon is a provider's, or one of the project of the Stack.
func TestConfigWithANamespaceDependsOnTheProject(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		// fault is that of a Stack of another project. Without one the Program is valid.
		fault string
		// here and elsewhere are what a Stack of the project app and one of another give to
		// the provider.
		here, elsewhere map[string]any
	}{
		"a default":             {text: `"app:size": {default: 2}`, fault: `program.config["app:size"].default: does not reach the provider`},
		"a typed default":       {text: `"app:size": {type: Number, default: 2}`, fault: `program.config["app:size"].default: does not reach the provider`},
		"a default of the list": {text: `"app:size": {type: Number, default: 2}, size: {default: 1}`, fault: `["app:size"].default`},
		"a secret value": {text: `"app:size": {type: Number, value: 2, secret: true}`, fault: `program.config["app:size"].secret`,
			elsewhere: map[string]any{"app:size": 2.0}},
		"an expression": {text: `"app:size": {type: String, value: "${pulumi.stack}"}`, fault: `program.config["app:size"].value: is an expression`,
			elsewhere: map[string]any{"app:size": "${pulumi.stack}"}},
		"its own name":               {text: `"app:size": {type: Number, value: 2, name: "app:size"}`, fault: `program.config["app:size"].name: keeps the value from the provider`},
		"a typed value":              {text: `"app:size": {type: Number, value: 2}`, elsewhere: map[string]any{"app:size": 2.0}},
		"a typed value, not secret":  {text: `"app:size": {type: Number, value: 2, secret: false}`, elsewhere: map[string]any{"app:size": 2.0}},
		"a typed list":               {text: `"app:zones": {type: array, items: {type: string}, value: [a]}`, elsewhere: map[string]any{"app:zones": []any{"a"}}},
		"a value":                    {text: `"app:size": {value: 2}`, here: map[string]any{"app:size": 2.0}, elsewhere: map[string]any{"app:size": 2.0}},
		"a value under a path":       {text: `"app:a.b": {value: 2}`, here: map[string]any{"app:a.b": 2.0}, elsewhere: map[string]any{"app:a.b": 2.0}},
		"what a Stack gives":         {text: `"app:size": {type: Number}`},
		"a secret that a Stack has":  {text: `"app:size": {type: Number, secret: true}`},
		"the key of another name":    {text: `size: {name: "app:size", default: 2}`},
		"a name with another key":    {text: `"app:size": {name: size, default: 2}`},
		"no namespace":               {text: `size: {type: Number, default: 2}`},
		"no namespace, with a value": {text: `size: {type: Number, value: 2}`},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			c := checked(t, "config: {"+test.text+"}")
			g.Expect(lines(c.Invalid)).To(BeEmpty())
			g.Expect(lines(c.FaultsIn("app"))).To(BeEmpty(), "in its own project, it is a value of the program")
			if elsewhere := lines(c.FaultsIn("other")); test.fault == "" {
				g.Expect(elsewhere).To(BeEmpty())
			} else {
				g.Expect(elsewhere).To(ConsistOf(ContainSubstring(test.fault)))
			}
			g.Expect(c.ConfigIn("app")).To(BeComparableTo(orEmpty(test.here)))
			g.Expect(c.ConfigIn("other")).To(BeComparableTo(orEmpty(test.elsewhere)))
		})
	}
}

func orEmpty(values map[string]any) map[string]any {
	if values == nil {
		return map[string]any{}
	}
	return values
}

func TestFaultsOfManyNamespacesAreBounded(t *testing.T) {
	g := NewWithT(t)
	var text strings.Builder
	text.WriteString("config:\n")
	for n := range 1000 {
		fmt.Fprintf(&text, "  \"n%d:a\": {default: 1}\n", n)
	}
	c := checked(t, text.String())
	g.Expect(c.OfProviders).To(HaveLen(maxFaults))
	g.Expect(c.FaultsIn("n0").None()).To(BeFalse())
}
