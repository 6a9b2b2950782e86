// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Text returns the program as the text of a Main.yaml, in Pulumi YAML, as
// ProgramText does.
func (in *ProgramSpec) Text() ([]byte, error) {
	raw, err := json.Marshal(in)
	if err != nil {
		return nil, fmt.Errorf("program: %w", err)
	}
	return ProgramText(raw)
}

// ProgramText returns the program of a Program, in JSON, as the text of a
// Main.yaml, in Pulumi YAML. The same program always gives the same text. Keys
// that no version of a ProgramSpec knows are part of it. Sections that are empty
// are left out, and those of the config are written as Pulumi YAML takes them in
// a Main.yaml, see mainConfig.
//
// The YAML is made node by node, and not by sigs.k8s.io/yaml: that one takes
// numbers through float64 and writes 1.0 as 1, and an integer beyond 64 bits
// with its last digits lost.
//
// The error is of a program that is not a JSON object, or of a number that is too
// big for a float64, which YAML would read as text.
func ProgramText(raw []byte) ([]byte, error) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var program map[string]any
	if err := decoder.Decode(&program); err != nil {
		return nil, fmt.Errorf("program: %w", err)
	}
	node, err := yamlNode(mainProgram(program))
	if err != nil {
		return nil, fmt.Errorf("program: %w", err)
	}
	var text bytes.Buffer
	encoder := yaml.NewEncoder(&text)
	encoder.SetIndent(2)
	if err := encoder.Encode(node); err != nil {
		return nil, fmt.Errorf("program: %w", err)
	}
	return text.Bytes(), nil
}

// yamlNode returns the YAML of a decoded JSON value.
func yamlNode(value any) (*yaml.Node, error) {
	switch v := value.(type) {
	case map[string]any:
		return yamlMapping(v)
	case []any:
		return yamlSequence(v)
	case string:
		return yamlString(v), nil
	case json.Number:
		return yamlNumber(v)
	case bool:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: strconv.FormatBool(v)}, nil
	case nil:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null"}, nil
	default:
		return nil, fmt.Errorf("%T is not a JSON value", value)
	}
}

// yamlMapping writes an object with its keys in order.
func yamlMapping(object map[string]any) (*yaml.Node, error) {
	node := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	if len(object) == 0 {
		node.Style = yaml.FlowStyle
	}
	for _, key := range slices.Sorted(maps.Keys(object)) {
		value, err := yamlNode(object[key])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", key, err)
		}
		node.Content = append(node.Content, yamlString(key), value)
	}
	return node, nil
}

// yamlSequence writes a list.
func yamlSequence(list []any) (*yaml.Node, error) {
	node := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
	if len(list) == 0 {
		node.Style = yaml.FlowStyle
	}
	for i, item := range list {
		value, err := yamlNode(item)
		if err != nil {
			return nil, fmt.Errorf("[%d]: %w", i, err)
		}
		node.Content = append(node.Content, value)
	}
	return node, nil
}

// yamlNumber writes a number as it was written.
func yamlNumber(number json.Number) (*yaml.Node, error) {
	if _, err := number.Float64(); err != nil {
		return nil, fmt.Errorf("the number %s is out of range", number)
	}
	// Without a tag: YAML takes an integer beyond 64 bits for a float, and would
	// have a wrong tag written out.
	return &yaml.Node{Kind: yaml.ScalarNode, Value: number.String()}, nil
}

// yamlString writes a text so that every reader of YAML takes it for one: in
// quotes, unless it is a plain word that no version of YAML has a meaning for.
// Pulumi reads YAML 1.2, where yes and 1:30 are text; kubectl and other tools
// read 1.1, where they are not.
func yamlString(text string) *yaml.Node {
	node := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text}
	if !plain(text) {
		node.Style = yaml.DoubleQuotedStyle
	}
	return node
}

// plain says that a text needs no quotes: it begins with a letter, as nothing
// but words does in YAML, goes on like the names of properties, functions and
// type tokens, and is no word that YAML has a meaning for.
func plain(text string) bool {
	if text == "" || len(text) > 128 {
		return false
	}
	for i, r := range []byte(text) {
		letter := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
		digit := '0' <= r && r <= '9'
		mark := strings.IndexByte("_-:/.", r) >= 0
		switch {
		case letter, digit && i > 0, mark && i > 0 && i < len(text)-1:
		default:
			return false
		}
	}
	switch strings.ToLower(text) {
	case "y", "n", "yes", "no", "on", "off", "true", "false", "null":
		return false
	}
	return true
}
