// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"encoding/json"
	"errors"
	"io"
	"strings"

	"gopkg.in/yaml.v3"
)

const (
	// maxNesting is how often a text in a structured value is looked into again, as
	// the kubeconfig in a Secret in YAML.
	maxNesting = 2
	// maxYAML bounds a value that is read as YAML, which takes many times its memory.
	maxYAML = 256 << 10
)

// partsOf lists the texts and numbers in a value that is a list or an object in JSON or
// YAML, such as a kubeconfig or the key of an account: Pulumi hands such a value on as
// what it describes, and a provider that complains of it prints its parts. Short ones,
// such as the name of a region, are no secrets by themselves, and would be masked
// everywhere: they are left out, unless their name says that they are secret. False is
// a value that is no such thing.
func partsOf(value string, depth int) ([]secretValue, bool) {
	var found []secretValue
	add := func(name, text string) {
		length := len(strings.TrimSpace(text))
		switch {
		case length >= maskedLine && depth > 1:
			parts, structured := partsOf(text, depth-1)
			found = append(append(found, secretValue{text, structured}), parts...)
		case length >= maskedLine, length >= shortMask && isSecretName(name) && text != "true" && text != "false":
			found = append(found, secretValue{text: text})
		}
	}
	if parsed, ok := structureInJSON(value); ok {
		eachPart("", parsed, add)
		return found, true
	}
	documents := structuresInYAML(value)
	for _, document := range documents {
		eachScalar("", document, add)
	}
	return found, len(documents) > 0
}

func structureInJSON(value string) (any, bool) {
	trimmed := strings.TrimSpace(value)
	if !strings.HasPrefix(trimmed, "{") && !strings.HasPrefix(trimmed, "[") {
		return nil, false
	}
	var parsed any
	decoder := json.NewDecoder(strings.NewReader(trimmed))
	decoder.UseNumber()
	return parsed, json.Valid([]byte(trimmed)) && decoder.Decode(&parsed) == nil
}

// eachPart visits the texts and numbers in a value from JSON, each with the name of
// the field that it is of.
func eachPart(name string, part any, visit func(name, text string)) {
	switch part := part.(type) {
	case json.Number:
		visit(name, part.String())
	case string:
		visit(name, part)
	case []any:
		for _, item := range part {
			eachPart(name, item, visit)
		}
	case map[string]any:
		for field, item := range part {
			eachPart(field, item, visit)
		}
	}
}

// structuresInYAML are the documents of a value in YAML that are lists or objects:
// every text is YAML. What is no more YAML after them is passed over.
func structuresInYAML(value string) []*yaml.Node {
	if len(value) > maxYAML || !looksLikeYAML(value) {
		return nil
	}
	var found []*yaml.Node
	decoder := yaml.NewDecoder(strings.NewReader(value))
	for {
		var document yaml.Node
		if err := decoder.Decode(&document); err != nil {
			if !errors.Is(err, io.EOF) && len(found) == 0 {
				return nil
			}
			return found
		}
		if len(document.Content) == 1 && document.Content[0].Kind != yaml.ScalarNode {
			found = append(found, document.Content[0])
		}
	}
}

// looksLikeYAML saves most values from being read: keys and passwords.
func looksLikeYAML(value string) bool {
	trimmed := strings.TrimSpace(value)
	return strings.Contains(value, ": ") || strings.Contains(value, ":\n") || strings.HasPrefix(trimmed, "- ") ||
		strings.HasPrefix(trimmed, "{") || strings.HasPrefix(trimmed, "[")
}

// eachScalar is eachPart for YAML. An alias stands for what is visited where it is.
func eachScalar(name string, node *yaml.Node, visit func(name, text string)) {
	switch node.Kind {
	case yaml.ScalarNode:
		visit(name, node.Value)
	case yaml.SequenceNode:
		for _, item := range node.Content {
			eachScalar(name, item, visit)
		}
	case yaml.MappingNode:
		eachField(node, func(field string, item *yaml.Node) { eachScalar(field, item, visit) })
	}
}
