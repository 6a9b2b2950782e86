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

// maxStructure bounds a value that is read as settings or as YAML, which takes many
// times its size in memory.
const maxStructure = 256 << 10

// member is a text or number in a structured value, with the meaning of its name or of
// what contains it.
type member struct {
	means meaning
	text  string
}

// membersOf lists the members of a list or object in JSON or YAML. It returns
// false if the value is not, or not all of it, structured.
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

// nodeOf converts a JSON value to a YAML node. JSON is not read as YAML because YAML does
// not cover all of it.
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

// structuresInYAML returns the YAML documents that are lists or objects (any text is
// YAML). It returns false if a later part is not valid YAML.
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

// hasNames reports whether all keys of a value look like names: lines of a shell script or
// program may contain colons too.
func hasNames(node *yaml.Node) bool {
	all := true
	eachField(node, func(field string, _ *yaml.Node) { all = all && !strings.ContainsAny(field, "=;\"'`(){}<>|&$") })
	return all && !slices.ContainsFunc(node.Content, func(inner *yaml.Node) bool { return !hasNames(inner) })
}

// looksLikeYAML avoids parsing most values, which are keys and passwords.
func looksLikeYAML(value string) bool {
	trimmed := strings.TrimSpace(value)
	return strings.Contains(value, ": ") || strings.Contains(value, ":\n") || strings.HasPrefix(trimmed, "- ") ||
		strings.HasPrefix(trimmed, "{") || strings.HasPrefix(trimmed, "[")
}

// eachScalar visits the texts and numbers in a value. It skips aliases, whose targets are
// visited anyway. Everything inside a secret is secret unless it has a plain name.
func eachScalar(means meaning, node *yaml.Node, visit func(member)) {
	switch node.Kind {
	case yaml.ScalarNode:
		visit(member{means, node.Value})
	case yaml.SequenceNode:
		for n, item := range node.Content {
			if n > 0 && isSecretOption(node.Content[n-1]) {
				eachScalar(namesSecret, item, visit)
				continue
			}
			eachScalar(means, item, visit)
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
			if inner == namesNothing && means == namesSecret {
				inner = means
			}
			eachScalar(inner, item, visit)
		})
	}
}

// isSecretOption reports whether an item is a command-line option followed by a secret
// argument.
func isSecretOption(node *yaml.Node) bool {
	name, ok := strings.CutPrefix(node.Value, "--")
	return ok && !strings.Contains(name, "=") && meaningOf(name) == namesSecret
}

// namedIn returns the meaning that an object with a name and a value, such as an
// environment variable, gives its value, and whether it has a value. If several fields
// may be the name, a secret one wins.
func namedIn(node *yaml.Node) (meaning, bool) {
	named, hasValue := namesNothing, false
	eachField(node, func(field string, item *yaml.Node) {
		hasValue = hasValue || isValueName(field)
		if !isNaming(field) || item.Kind != yaml.ScalarNode || named == namesSecret {
			return
		}
		if means := meaningOf(item.Value); means != namesNothing {
			named = means
		}
	})
	return named, hasValue
}
