// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package standin has providers that stand in for those of clouds, in tests: aws, gcp, kubernetes and random, each with the few
// resources and functions that the programs of the tests use. They are no copies. A table says of each resource what its
// properties are named, of what type they are, which of them replace it and what the cloud adds; all of them are kept in the
// same way. What a package has is in the file of its name; what is true of one cloud only belongs nowhere else.
package standin

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pulumi/pulumi/pkg/v3/codegen/schema"
	"github.com/pulumi/pulumi/sdk/v3/go/property"
)

// Package is what there is of a package.
type Package struct {
	Name string
	// Version is one that the package really had, so that programs which ask for it find it.
	Version string
	// Config is the configuration of the provider.
	Config map[string]Property
	// Types of objects, by token.
	Types map[string]map[string]Property
	// Resources and Functions, by token.
	Resources map[string]Resource
	Functions map[string]Function
	// Open finds the place of the resources with the provider's configuration.
	Open func(config property.Map) (Place, error)
}

// Property is one property of a resource, a type or a configuration.
type Property struct {
	Type     schema.TypeSpec
	Required bool
	// Replaces says that another value replaces the resource.
	Replaces bool
	Secret   bool
}

// Resource is one type of resource.
type Resource struct {
	Inputs map[string]Property
	// Outputs are what the cloud adds.
	Outputs map[string]Output
	// Prefix is what ids begin with. Empty means the name of the resource in the program.
	Prefix string
	// Path is where an API server has the objects, and has a meaning for kubernetes only.
	Path string
}

// Output is a property that the cloud adds.
type Output struct {
	Property
	// Merges says that Of goes by the program's value, where there is one. Otherwise that value is the output.
	Merges bool
	// Once says that it stays what it was first.
	Once bool
	Of   func(Thing) property.Value
}

// Function is one function.
type Function struct {
	Inputs, Outputs map[string]Property
	Of              func(args property.Map) property.Map
}

// Thing is one resource as a place has it.
type Thing struct {
	// Token of its type, and what the table says of that.
	Token    string
	Resource Resource
	// ID is empty before it is created.
	ID string
	// Name is the one in the program, which URN ends with.
	Name, URN string
	Inputs    property.Map
	Config    property.Map
}

// text is an input that is a text, or else the configuration of that name, and "" without either.
func (t Thing) text(name string) string {
	for _, from := range []property.Map{t.Inputs, t.Config} {
		if value := from.Get(name); value.IsString() {
			return value.AsString()
		}
	}
	return ""
}

// Find returns the package that is stood in for.
func Find(name string) (Package, error) {
	var names []string
	for _, pkg := range Packages() {
		if pkg.Name == name {
			return pkg, nil
		}
		names = append(names, pkg.Name)
	}
	slices.Sort(names)
	return Package{}, fmt.Errorf("there is no stand-in for %q, only for %s", name, strings.Join(names, ", "))
}

// Packages are those that there is a stand-in for.
func Packages() []Package {
	return []Package{aws(), gcp(), kubernetes(), random()}
}

var (
	text    = schema.TypeSpec{Type: "string"}
	integer = schema.TypeSpec{Type: "integer"}
	boolean = schema.TypeSpec{Type: "boolean"}
	anyJSON = schema.TypeSpec{Ref: "pulumi.json#/Any"}
)

func listOf(item schema.TypeSpec) schema.TypeSpec {
	return schema.TypeSpec{Type: "array", Items: &item}
}

func mapOf(item schema.TypeSpec) schema.TypeSpec {
	return schema.TypeSpec{Type: "object", AdditionalProperties: &item}
}

// objectOf is a type of the package's own.
func objectOf(token string) schema.TypeSpec {
	return schema.TypeSpec{Type: "object", Ref: "#/types/" + token}
}

func optional(t schema.TypeSpec) Property  { return Property{Type: t} }
func required(t schema.TypeSpec) Property  { return Property{Type: t, Required: true} }
func replacing(t schema.TypeSpec) Property { return Property{Type: t, Replaces: true} }

// made is an output that is a text.
func made(of func(Thing) string) Output {
	return Output{Property: optional(text), Of: func(t Thing) property.Value { return property.New(of(t)) }}
}

// secret is an output that is a secret text, made once.
func secret(of func(Thing) string) Output {
	output := made(of)
	output.Secret, output.Once = true, true
	return output
}
