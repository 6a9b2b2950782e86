// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package standin has test providers that stand in for real ones: aws, gcp, kubernetes,
// random, command and the dynamic providers of Node.js, each with the few resources and functions that the programs of the tests
// use. They are not copies. For each resource, a table has the names and types of its
// properties, which of them replace it, and what the cloud adds. All resources are kept
// in the same way. Each package has a file of its name, and what is specific to one cloud
// belongs only there.
package standin

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pulumi/pulumi/pkg/v3/codegen/schema"
	"github.com/pulumi/pulumi/sdk/v3/go/property"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi/provider"
)

// Package is a provider package.
type Package struct {
	Name string
	// Version is one that the real package had, so that programs which request it find
	// it.
	Version string
	// Config is the configuration of the provider.
	Config map[string]Property
	// Types of objects, by token.
	Types map[string]map[string]Property
	// Resources and Functions, by token.
	Resources map[string]Resource
	Functions map[string]Function
	// Other is the entry of all resources that have none, if not nil. They are not in the schema.
	Other *Resource
	// Components, by token, register other resources. They are not in the schema.
	Components map[string]provider.ConstructFunc
	// Start returns why the provider cannot start in the current directory, if not nil.
	Start func() error
	// Open returns the place of the resources for a configuration of the provider.
	Open func(config property.Map) (Place, error)
}

// Property is a property of a resource, a type or a configuration.
type Property struct {
	Type     schema.TypeSpec
	Required bool
	// Replaces reports whether a new value replaces the resource.
	Replaces bool
	Secret   bool
}

// Resource is one type of resource.
type Resource struct {
	Inputs map[string]Property
	// Outputs are the properties that the cloud adds.
	Outputs map[string]Output
	// Prefix of IDs. Empty is the name of the resource in the program.
	Prefix string
	// Free reports whether it may have other inputs than those.
	Free bool
	// Nameless says that a change of it is reported without the names of the inputs that change, as
	// dynamic providers do.
	Nameless bool
	// Protected reports whether it cannot be deleted unless deletionProtection is false.
	Protected bool
}

// Output is a property that the cloud adds.
type Output struct {
	Property
	// Merges reports whether Of uses the program's value, if there is one. Otherwise that
	// value is the output.
	Merges bool
	// Once reports whether it keeps its first value.
	Once bool
	Of   func(Thing) property.Value
}

// Function is one function.
type Function struct {
	Inputs, Outputs map[string]Property
	Of              func(args property.Map) property.Map
}

// Thing is a resource in a place.
type Thing struct {
	// Token of its type, and the entry of the table.
	Token    string
	Resource Resource
	// ID is empty before it is created.
	ID string
	// Name in the program, which is the end of URN.
	Name, URN string
	Inputs    property.Map
	Config    property.Map
}

// text returns a text input, or else the configuration of that name, or "".
func (t Thing) text(name string) string {
	for _, from := range []property.Map{t.Inputs, t.Config} {
		if value := from.Get(name); value.IsString() {
			return value.AsString()
		}
	}
	return ""
}

// protected reports whether it must not be deleted.
func (t Thing) protected() bool {
	value := t.Inputs.Get("deletionProtection")
	return t.Resource.Protected && !(value.IsBool() && !value.AsBool())
}

// Find returns the package with a name.
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

// Packages returns all packages with a stand-in.
func Packages() []Package {
	return []Package{aws(), gcp(), kubernetes(), random(), command(), dynamic()}
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

// objectOf refers to a type of the same package.
func objectOf(token string) schema.TypeSpec {
	return schema.TypeSpec{Type: "object", Ref: "#/types/" + token}
}

func optional(t schema.TypeSpec) Property  { return Property{Type: t} }
func required(t schema.TypeSpec) Property  { return Property{Type: t, Required: true} }
func replacing(t schema.TypeSpec) Property { return Property{Type: t, Replaces: true} }

// made is an output of type text.
func made(of func(Thing) string) Output {
	return Output{Property: optional(text), Of: func(t Thing) property.Value { return property.New(of(t)) }}
}

// secret is an output of type secret text, created once.
func secret(of func(Thing) string) Output {
	output := made(of)
	output.Secret, output.Once = true, true
	return output
}
