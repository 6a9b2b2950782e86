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

// Text returns the program as the Pulumi YAML text of a Main.yaml, see
// ProgramText.
func (in *ProgramSpec) Text() ([]byte, error) {
	raw, err := json.Marshal(in)
	if err != nil {
		return nil, fmt.Errorf("program: %w", err)
	}
	return ProgramText(raw)
}

// ProgramText converts the JSON of a ProgramSpec to the Pulumi YAML text of a
// Main.yaml. The same program always gives the same text. Unknown keys are kept
// and empty sections dropped, except for resources: without that section, an
// update that would delete all resources of a stack is refused. Config sections are
// written as Pulumi YAML accepts them in a Main.yaml, see mainConfig.
//
// It builds the YAML node by node, because sigs.k8s.io/yaml converts numbers to
// float64: it writes 1.0 as 1 and drops the last digits of an integer beyond 64
// bits.
//
// It returns an error if the program is not a JSON object, or has a number that
// is too big for a float64, which YAML would read as text.
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

// yamlNode converts a decoded JSON value to YAML.
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

// yamlMapping converts an object, with its keys sorted.
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

// yamlSequence converts a list.
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

// yamlNumber keeps a number as it was written.
func yamlNumber(number json.Number) (*yaml.Node, error) {
	if _, err := number.Float64(); err != nil {
		return nil, fmt.Errorf("the number %s is out of range", number)
	}
	// Set no tag: YAML takes an integer beyond 64 bits for a float, so that the
	// encoder would write out a tag that does not match.
	return &yaml.Node{Kind: yaml.ScalarNode, Value: number.String()}, nil
}

// yamlString quotes a text unless it is a plain word without a special meaning in
// any version of YAML. Pulumi reads YAML 1.2, where yes and 1:30 are text;
// kubectl and other tools read 1.1, where they are not.
func yamlString(text string) *yaml.Node {
	node := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text}
	if !plain(text) {
		node.Style = yaml.DoubleQuotedStyle
	}
	return node
}

// plain returns whether a text needs no quotes: it starts with a letter, as only
// words do in YAML, continues like the names of properties, functions and type
// tokens, and is not a word with a special meaning in YAML.
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
