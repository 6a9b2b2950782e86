// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"fmt"
	"maps"
	"slices"

	"gopkg.in/yaml.v3"

	"github.com/flux-pulumi/pulumi-controller/internal/mask"
)

// writtenNames are the names of outputs, and of their members, that are written in the
// program's text or the spec. Such a name is not derived from a secret, even if it has
// the same letters: a database whose user is "host" also has a host.
type writtenNames map[string]bool

// addProgram adds the names under outputs in the program. Text that is not YAML has
// none: the run will report what is wrong with it.
func (w writtenNames) addProgram(text []byte) {
	var document yaml.Node
	if yaml.Unmarshal(text, &document) != nil || len(document.Content) != 1 || document.Content[0].Kind != yaml.MappingNode {
		return
	}
	for fields := document.Content[0].Content; len(fields) > 1; fields = fields[2:] {
		if fields[0].Value == "outputs" {
			w.addKeys(fields[1])
		}
	}
}

func (w writtenNames) addKeys(node *yaml.Node) {
	switch node.Kind {
	case yaml.SequenceNode:
		for _, item := range node.Content {
			w.addKeys(item)
		}
	case yaml.MappingNode:
		for fields := node.Content; len(fields) > 1; fields = fields[2:] {
			w[fields[0].Value] = true
			w.addKeys(fields[1])
		}
	}
}

// shown maps each name to the one to show. They stay distinct, so that no output is
// lost because of its name. A program may build a name from anything, so names that are
// not written anywhere are masked.
func (w writtenNames) shown(names []string, m *mask.Masker) map[string]string {
	shown, taken := make(map[string]string, len(names)), make(map[string]bool, len(names))
	masked := map[string]string{}
	for _, name := range names {
		if text := m.Apply(name); text != name && !w[name] {
			masked[name] = text
			continue
		}
		shown[name], taken[name] = name, true
	}
	next := map[string]int{}
	for _, name := range slices.Sorted(maps.Keys(masked)) {
		text := masked[name]
		free := text
		for taken[free] {
			next[text] = max(next[text], 1) + 1
			free = fmt.Sprintf("%s-%d", text, next[text])
		}
		shown[name], taken[free] = free, true
	}
	return shown
}

// writtenNames are those of the program and the spec.
func (s *session) writtenNames() writtenNames {
	names := writtenNames{}
	if s.prepared != nil {
		maps.Copy(names, s.names)
	}
	if s.run.Outputs != nil {
		for _, key := range s.run.Outputs.Keys {
			names[key] = true
		}
	}
	return names
}
