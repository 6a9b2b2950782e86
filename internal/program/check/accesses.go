// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"slices"
	"strings"

	"github.com/pulumi/pulumi-yaml/pkg/pulumiyaml/ast"

	"github.com/flux-pulumi/pulumi-controller/internal/bounded"
)

// toldOfRun lists what Pulumi tells a program about the run: ${pulumi.stack} and the
// like.
func toldOfRun() []string {
	return []string{"cwd", "organization", "project", "rootDirectory", "stack"}
}

// checkAccesses refuses references that no config of a Stack could satisfy.
func checkAccesses(top *place, invalid *found) {
	for _, section := range []string{"config", "outputs", "resources", "variables"} {
		top.get(section).entries(func(entry *place) { checkAccessesIn(entry, top, invalid) })
	}
}

func checkAccessesIn(at, top *place, invalid *found) {
	text, _ := at.text()
	for _, to := range accesses(text) {
		name := to.RootName()
		switch bare := strings.TrimSpace(name); {
		case name == reserved:
			checkReserved(at, to, invalid)
		case bare != name && !isDeclared(top, name) && (bare == reserved || isDeclared(top, bare)):
			invalid.add(at, "refers to %q: blanks in ${} are part of the name in Pulumi YAML, write ${%s} without", name, bare)
		}
	}
	at.each(func(inner *place) { checkAccessesIn(inner, top, invalid) })
}

// checkReserved checks references to ${pulumi}. Within a longer text Pulumi YAML accepts
// an unknown field and inserts "<nil>", so only a reference on its own is checked against
// the known fields.
func checkReserved(at *place, to *ast.PropertyAccess, invalid *found) {
	isRight := len(to.Accessors) <= 2
	if len(to.Accessors) == 2 && access(at) != nil {
		field, isName := to.Accessors[1].(*ast.PropertyName)
		isRight = isName && slices.Contains(toldOfRun(), field.Name)
	}
	if !isRight {
		invalid.add(at, "refers to ${%s}, and there are ${pulumi.%s} only", bounded.Line(to.String(), maxPath), strings.Join(toldOfRun(), "}, ${pulumi."))
	}
}

func isDeclared(top *place, name string) bool {
	return slices.ContainsFunc([]string{"config", "resources", "variables"}, func(section string) bool { return top.get(section).get(name) != nil })
}
