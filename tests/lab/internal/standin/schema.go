// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package standin

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/pulumi/pulumi/pkg/v3/codegen/schema"
)

// schemaOf returns the schema against which Pulumi's language hosts check programs.
func schemaOf(pkg Package) (string, error) {
	spec := schema.PackageSpec{
		Name:        pkg.Name,
		Version:     pkg.Version,
		DisplayName: pkg.Name + " (stand-in)",
		Description: "A stand-in for the package " + pkg.Name + ", for tests: it reaches no cloud.",
		Config:      schema.ConfigSpec{Variables: properties(pkg.Config)},
		Provider:    schema.ResourceSpec{InputProperties: properties(pkg.Config)},
		Types:       map[string]schema.ComplexTypeSpec{},
		Resources:   map[string]schema.ResourceSpec{},
		Functions:   map[string]schema.FunctionSpec{},
	}
	for token, of := range pkg.Types {
		spec.Types[token] = schema.ComplexTypeSpec{ObjectTypeSpec: object(of)}
	}
	for token, resource := range pkg.Resources {
		outputs := maps.Clone(resource.Inputs)
		for name, output := range resource.Outputs {
			outputs[name] = Property{Type: output.Type, Required: true, Secret: output.Secret}
		}
		spec.Resources[token] = schema.ResourceSpec{
			ObjectTypeSpec:  object(outputs),
			InputProperties: properties(resource.Inputs),
			RequiredInputs:  requiredOf(resource.Inputs),
		}
	}
	for token, function := range pkg.Functions {
		inputs, outputs := object(function.Inputs), object(function.Outputs)
		spec.Functions[token] = schema.FunctionSpec{Inputs: &inputs, Outputs: &outputs}
	}
	text, err := json.Marshal(spec)
	if err != nil {
		return "", fmt.Errorf("writing the schema of %s: %w", pkg.Name, err)
	}
	return string(text), nil
}

func object(of map[string]Property) schema.ObjectTypeSpec {
	return schema.ObjectTypeSpec{Type: "object", Properties: properties(of), Required: requiredOf(of)}
}

func properties(of map[string]Property) map[string]schema.PropertySpec {
	specs := map[string]schema.PropertySpec{}
	for name, p := range of {
		specs[name] = schema.PropertySpec{TypeSpec: p.Type, Secret: p.Secret, WillReplaceOnChanges: p.Replaces}
	}
	return specs
}

func requiredOf(of map[string]Property) []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(of)) {
		if of[name].Required {
			names = append(names, name)
		}
	}
	return names
}
