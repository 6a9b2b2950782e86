// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package standin

import "github.com/pulumi/pulumi/sdk/v3/go/property"

// plain returns a value in the form of encoding/json, including secrets.
func plain(value property.Value) any {
	switch {
	case value.IsArray():
		list := []any{}
		for _, item := range value.AsArray().All {
			list = append(list, plain(item))
		}
		return list
	case value.IsMap():
		object := map[string]any{}
		for name, item := range value.AsMap().All {
			object[name] = plain(item)
		}
		return object
	case value.IsString():
		return value.AsString()
	case value.IsNumber():
		return value.AsNumber()
	case value.IsBool():
		return value.AsBool()
	}
	return nil
}

// valueOf returns a value that encoding/json has decoded.
func valueOf(value any) property.Value {
	switch value := value.(type) {
	case []any:
		list := []property.Value{}
		for _, item := range value {
			list = append(list, valueOf(item))
		}
		return property.New(list)
	case map[string]any:
		return property.New(mapOfValues(value))
	case string:
		return property.New(value)
	case float64:
		return property.New(value)
	case bool:
		return property.New(value)
	}
	return property.Value{}
}

func mapOfValues(object map[string]any) property.Map {
	values := map[string]property.Value{}
	for name, item := range object {
		values[name] = valueOf(item)
	}
	return property.NewMap(values)
}
