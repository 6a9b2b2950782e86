// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package mask

import (
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"strings"

	"gopkg.in/yaml.v3"
)

// maxStructure bounds a value that is read as YAML, which takes many times its memory,
// or as assignments.
const maxStructure = 256 << 10

// member is a text or a number in a structured value, with the name that it has, and
// the meaning of that, or of what it is in.
type member struct {
	says meaning
	text string
}

// membersOf lists what is in a value that is a list or an object in JSON or YAML. False
// is a value that is no such thing, or only begins as one.
func membersOf(value string) ([]member, bool) {
	documents, whole := structureInJSON(value), true
	if documents == nil {
		documents, whole = structuresInYAML(value)
	}
	var all []member
	for _, document := range documents {
		eachScalar(namesNothing, document, func(found member) { all = append(all, found) })
	}
	return all, whole && len(documents) > 0
}

func structureInJSON(value string) []*yaml.Node {
	trimmed := strings.TrimSpace(value)
	if !strings.HasPrefix(trimmed, "{") && !strings.HasPrefix(trimmed, "[") {
		return nil
	}
	var parsed any
	decoder := json.NewDecoder(strings.NewReader(trimmed))
	decoder.UseNumber()
	if !json.Valid([]byte(trimmed)) || decoder.Decode(&parsed) != nil {
		return nil
	}
	return []*yaml.Node{nodeOf(parsed)}
}

// nodeOf is a value from JSON as one from YAML, which does not read all of JSON.
func nodeOf(value any) *yaml.Node {
	node := &yaml.Node{Kind: yaml.ScalarNode}
	switch value := value.(type) {
	case json.Number:
		node.Value = value.String()
	case string:
		node.Value = value
	case []any:
		node.Kind = yaml.SequenceNode
		for _, item := range value {
			node.Content = append(node.Content, nodeOf(item))
		}
	case map[string]any:
		node.Kind = yaml.MappingNode
		for field, item := range value {
			node.Content = append(node.Content, nodeOf(field), nodeOf(item))
		}
	}
	return node
}

// structuresInYAML are the documents of a value in YAML that are lists or objects:
// every text is YAML. False is a value that is no YAML any more after them.
func structuresInYAML(value string) ([]*yaml.Node, bool) {
	if len(value) > maxStructure || !looksLikeYAML(value) {
		return nil, false
	}
	var found []*yaml.Node
	decoder := yaml.NewDecoder(strings.NewReader(value))
	for {
		var document yaml.Node
		if err := decoder.Decode(&document); err != nil {
			return found, errors.Is(err, io.EOF)
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

// eachScalar visits the texts and numbers in a value. An alias stands for what is
// visited where it is. What is in a secret is one, unless it has a plain name.
func eachScalar(says meaning, node *yaml.Node, visit func(member)) {
	switch node.Kind {
	case yaml.ScalarNode:
		visit(member{says, node.Value})
	case yaml.SequenceNode:
		for _, item := range node.Content {
			eachScalar(says, item, visit)
		}
	case yaml.MappingNode:
		named := fieldOf(node, "name")
		eachField(node, func(field string, item *yaml.Node) {
			inner := meaningOf(field)
			if field == "value" && named != nil {
				inner = meaningOf(named.Value) // of a list of variables
			}
			if inner == namesNothing && says == namesSecret {
				inner = says
			}
			eachScalar(inner, item, visit)
		})
	}
}

// assignmentsIn lists the values in a value such as NAME=value: the lines of a file
// of variables, or the parts of what says how to connect to a database.
func assignmentsIn(value string) []member {
	if len(value) > maxStructure || !strings.Contains(value, "=") {
		return nil
	}
	line := regexp.MustCompile(`(?m)^[ \t]*(?:export[ \t]+)?([A-Za-z_][\w.-]*)[ \t]*=[ \t]*(.*?)[ \t\r]*$`)
	pair := regexp.MustCompile(`([A-Za-z_][\w.-]*(?: [A-Za-z]+)?)[ \t]*=[ \t]*("[^"\n]*"|'[^'\n]*'|[^\s;]+)`)
	var all []member
	for _, pattern := range []*regexp.Regexp{line, pair} {
		for _, found := range pattern.FindAllStringSubmatch(value, -1) {
			text := found[2]
			if len(text) > 1 && (text[0] == '"' || text[0] == '\'') && text[len(text)-1] == text[0] {
				text = text[1 : len(text)-1]
			}
			all = append(all, member{meaningOf(found[1]), text})
		}
	}
	return all
}
