// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"fmt"

	"gopkg.in/yaml.v3"
	"k8s.io/apimachinery/pkg/util/json"
)

// parseProject reads Pulumi YAML as Pulumi does. What reads manifests would take the
// text y for true and the key n for false, and round large numbers.
func parseProject(text []byte) (map[string]any, error) {
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		return nil, err
	}
	datesAsTexts(&document)
	var values map[string]any
	if err := document.Decode(&values); err != nil {
		return nil, err
	}
	// As the values of an object of Kubernetes, which has fewer kinds of numbers.
	encoded, err := json.Marshal(values)
	if err != nil {
		return nil, fmt.Errorf("a key is no text: %w", err)
	}
	project := map[string]any{}
	return project, json.Unmarshal(encoded, &project)
}

// datesAsTexts leaves dates as they are written.
func datesAsTexts(node *yaml.Node) {
	if node.Kind == yaml.ScalarNode && node.Tag == "!!timestamp" {
		node.Tag = "!!str"
	}
	for _, inner := range node.Content {
		datesAsTexts(inner)
	}
}
