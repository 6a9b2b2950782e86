// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"github.com/pulumi/pulumi-yaml/pkg/pulumiyaml/ast"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/urn"
)

// checkAliases checks what Pulumi YAML does not check before it changes anything.
func checkAliases(at *position, invalid *findings) {
	if at == nil {
		return
	}
	eachOfLiteral(at, func(alias *position) {
		checkURN(alias, invalid)
		for _, key := range []string{"name", "project", "stack", "type", "urn"} {
			mustBe("a string", alias.get(key), invalid)
		}
		checkURN(alias.get("urn"), invalid)
		checkParentOfAlias(alias, invalid)
	})
}

// checkParentOfAlias checks that the parent is a resource or the URN of one.
func checkParentOfAlias(alias *position, invalid *findings) {
	parent := alias.get("parent")
	if parent == nil {
		return
	}
	if isTrue(alias.get("noParent")) {
		invalid.add(parent, "and noParent cannot both be given")
	}
	if to := access(parent); to != nil && len(to.Accessors) > 1 && parent.top().get("resources").get(to.RootName()) != nil && !isName(to) {
		invalid.add(parent, "must be a resource or the URN of one, and is a property of the resource %s", to.RootName())
		return
	}
	if knownKind(parent) != aResource && mustBe("a string", parent, invalid) {
		checkURN(parent, invalid)
	}
}

// checkURN refuses a literal that is not a URN.
func checkURN(at *position, invalid *findings) {
	text, known := literal(at)
	if !known {
		return
	}
	notEmpty(at, "and has to be the URN that the resource had", invalid)
	if _, err := urn.Parse(text); err != nil && text != "" {
		invalid.add(at, "is no URN, such as urn:pulumi:dev::demo::aws:s3/bucket:Bucket::name")
	}
}

// isName reports whether a reference is to the id or urn of a resource, which are strings.
func isName(to *ast.PropertyAccess) bool {
	field, ok := to.Accessors[1].(*ast.PropertyName)
	return ok && len(to.Accessors) == 2 && (field.Name == "id" || field.Name == "urn")
}
