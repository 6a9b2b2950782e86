// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package mask

import (
	"encoding/json"
	"errors"
	"io"
	"slices"
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

// membersOf lists what is in a value that is a list or an object in JSON, YAML, XML or
// CSV. False is a value that is no such thing, or only begins as one.
func membersOf(value string) ([]member, bool) {
	documents, whole := structureInJSON(value), true
	if documents == nil {
		documents, whole = structureInXML(value)
	}
	if documents == nil {
		documents, whole = structureInCSV(value)
	}
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
	whole := true
	decoder := yaml.NewDecoder(strings.NewReader(value))
	for {
		var document yaml.Node
		if err := decoder.Decode(&document); err != nil {
			return found, whole && errors.Is(err, io.EOF)
		}
		whole = whole && hasNames(&document)
		if len(document.Content) == 1 && document.Content[0].Kind != yaml.ScalarNode {
			found = append(found, document.Content[0])
		}
	}
}

// hasNames tells whether what is before the colons of a value are names. A line of a
// shell, or of a program, may have a colon in it as well.
func hasNames(node *yaml.Node) bool {
	all := true
	eachField(node, func(field string, _ *yaml.Node) { all = all && !strings.ContainsAny(field, "=;\"'`(){}<>|&$") })
	return all && !slices.ContainsFunc(node.Content, func(inner *yaml.Node) bool { return !hasNames(inner) })
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
		for n, item := range node.Content {
			if n > 0 && isSecretOption(node.Content[n-1]) {
				eachScalar(namesSecret, item, visit)
				continue
			}
			eachScalar(says, item, visit)
		}
	case yaml.MappingNode:
		named, hasValue := namedIn(node)
		eachField(node, func(field string, item *yaml.Node) {
			inner := meaningOf(field)
			switch {
			case hasValue && isValueName(field) && named != namesNothing:
				inner = named
			case hasValue && isNaming(field):
				inner = namesPlain
			}
			if inner == namesNothing && says == namesSecret {
				inner = says
			}
			eachScalar(inner, item, visit)
		})
	}
}

// isSecretOption tells whether an item is an option of a command whose argument follows
// and is a secret.
func isSecretOption(node *yaml.Node) bool {
	name, ok := strings.CutPrefix(node.Value, "--")
	return ok && !strings.Contains(name, "=") && meaningOf(name) == namesSecret
}

// namedIn is what an object with a name and a value, as in a list of variables, says of
// that value, and whether it has one. Where several fields may be the name, one that
// says that it is a secret is.
func namedIn(node *yaml.Node) (meaning, bool) {
	named, hasValue := namesNothing, false
	eachField(node, func(field string, item *yaml.Node) {
		hasValue = hasValue || isValueName(field)
		if !isNaming(field) || item.Kind != yaml.ScalarNode || named == namesSecret {
			return
		}
		if says := meaningOf(item.Value); says != namesNothing {
			named = says
		}
	})
	return named, hasValue
}
