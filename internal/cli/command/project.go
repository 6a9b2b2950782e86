// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"gopkg.in/yaml.v3"
	"k8s.io/apimachinery/pkg/util/json"
)

// parseProject reads Pulumi YAML as Pulumi does. The parser of manifests would read the
// string y as true and the key n as false, and round large numbers. more reports that
// other documents follow.
func parseProject(text []byte) (project map[string]any, more bool, err error) {
	documents := yaml.NewDecoder(bytes.NewReader(text))
	var document, next yaml.Node
	if err := documents.Decode(&document); errors.Is(err, io.EOF) {
		return nil, false, errors.New("it is empty")
	} else if err != nil {
		return nil, false, err
	}
	datesAsTexts(&document)
	var values map[string]any
	if err := document.Decode(&values); err != nil {
		return nil, false, err
	}
	// Convert to the values of Kubernetes objects, which have fewer number types.
	encoded, err := json.Marshal(values)
	if err != nil {
		return nil, false, fmt.Errorf("a key is not a string: %w", err)
	}
	more = !errors.Is(documents.Decode(&next), io.EOF)
	return project, more, json.Unmarshal(encoded, &project)
}

// topKeys returns the top-level keys of a YAML document as written, and none for an empty
// one.
func topKeys(document []byte) ([]string, error) {
	var root yaml.Node
	if err := yaml.Unmarshal(document, &root); err != nil || len(root.Content) == 0 {
		return nil, err
	}
	top := root.Content[0]
	if top.Kind != yaml.MappingNode {
		return nil, errors.New("it has no keys, unlike a manifest or a project")
	}
	var keys []string
	for i := 0; i < len(top.Content); i += 2 {
		keys = append(keys, top.Content[i].Value)
	}
	return keys, nil
}

// datesAsTexts keeps dates as they are written.
func datesAsTexts(node *yaml.Node) {
	if node.Kind == yaml.ScalarNode && node.Tag == "!!timestamp" {
		node.Tag = "!!str"
	}
	for _, inner := range node.Content {
		datesAsTexts(inner)
	}
}
