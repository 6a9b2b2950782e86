// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package mask

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"gopkg.in/yaml.v3"
)

// secretFunction marks a value as secret in a Pulumi YAML program.
const secretFunction = "fn::secret"

// InProgram lists the secrets written out in a Pulumi YAML program: the values under
// fn::secret and those of secret config. It finds none in invalid YAML, which the run
// itself reports.
func InProgram(text []byte) []string {
	var document yaml.Node
	if yaml.Unmarshal(text, &document) != nil || len(document.Content) != 1 {
		return nil
	}
	top := document.Content[0]
	var found []string
	for _, section := range []string{"config", "configuration"} {
		eachField(fieldOf(top, section), func(_ string, declared *yaml.Node) {
			if secret := fieldOf(declared, "secret"); secret == nil || secret.Value != "true" {
				return
			}
			for _, field := range []string{"default", "value"} {
				found = append(found, literals(fieldOf(declared, field))...)
			}
		})
	}
	for _, secret := range underSecret(top) {
		found = append(found, literals(secret)...)
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// RefersInSecrets reports whether a Pulumi YAML program has a reference under an
// fn::secret: InProgram cannot know what it stands for.
func RefersInSecrets(text []byte) bool {
	var document yaml.Node
	if yaml.Unmarshal(text, &document) != nil || len(document.Content) != 1 {
		return false
	}
	return slices.ContainsFunc(underSecret(document.Content[0]), hasReference)
}

func hasReference(node *yaml.Node) bool {
	if node.Kind == yaml.ScalarNode {
		return strings.Contains(strings.ReplaceAll(node.Value, "$${", ""), "${")
	}
	return slices.ContainsFunc(node.Content, hasReference)
}

// underSecret lists the values under every fn::secret.
func underSecret(node *yaml.Node) []*yaml.Node {
	var found []*yaml.Node
	if node.Kind == yaml.SequenceNode {
		for _, item := range node.Content {
			found = append(found, underSecret(item)...)
		}
	}
	eachField(node, func(key string, value *yaml.Node) {
		if strings.EqualFold(key, secretFunction) {
			found = append(found, value)
			return
		}
		found = append(found, underSecret(value)...)
	})
	return found
}

// literals lists the texts and numbers in a value. A text with references yields the
// parts between them: nothing else is known about it.
func literals(node *yaml.Node) []string {
	if node == nil {
		return nil
	}
	var found []string
	switch node.Kind {
	case yaml.SequenceNode:
		for _, item := range node.Content {
			found = append(found, literals(item)...)
		}
	case yaml.MappingNode:
		eachField(node, func(_ string, value *yaml.Node) { found = append(found, literals(value)...) })
	case yaml.ScalarNode:
		if tag := node.ShortTag(); tag != "!!null" && tag != "!!bool" {
			found = literalParts(node.Value)
		}
	}
	return found
}

// literalParts returns the parts of a text between its references. Parts without a letter
// or digit are just separators, such as a comma.
func literalParts(text string) []string {
	const dollar = "\x00"
	reference := regexp.MustCompile(`\$\{[^}]*\}`)
	var parts []string
	for _, part := range reference.Split(strings.ReplaceAll(text, "$${", dollar), -1) {
		if strings.ContainsFunc(part, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
			parts = append(parts, strings.ReplaceAll(part, dollar, "${"))
		}
	}
	return parts
}

func eachField(node *yaml.Node, visit func(key string, value *yaml.Node)) {
	if node == nil || node.Kind != yaml.MappingNode {
		return
	}
	for n := 0; n+1 < len(node.Content); n += 2 {
		visit(node.Content[n].Value, node.Content[n+1])
	}
}

// fieldOf returns nil if there is no such field.
func fieldOf(node *yaml.Node, name string) *yaml.Node {
	var found *yaml.Node
	eachField(node, func(key string, value *yaml.Node) {
		if key == name {
			found = value
		}
	})
	return found
}
