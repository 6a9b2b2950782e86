// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/flux-pulumi/pulumi-controller/internal/bounded"
)

// position is a position in a program. It links to its parent, so that paths are only built
// for positions that are reported.
type position struct {
	parent *position
	// key in an object, or index in a list if isIndex.
	key     string
	index   int
	isIndex bool
	line    int
	node    *yaml.Node
}

// positionOf returns a position that is not in the text.
func positionOf(keys ...string) *position {
	at := &position{}
	for _, key := range keys {
		at = &position{parent: at, key: key}
	}
	return at
}

// field returns the position of the value of the nth pair of an object.
func (p *position) field(n int) *position {
	key, value := p.node.Content[2*n], p.node.Content[2*n+1]
	return &position{parent: p, key: key.Value, line: key.Line, node: value}
}

// item returns the position of the nth item of a list.
func (p *position) item(n int) *position {
	value := p.node.Content[n]
	return &position{parent: p, index: n, isIndex: true, line: value.Line, node: value}
}

func (p *position) isObject() bool { return p.node.Kind == yaml.MappingNode }

// each calls visit with each value of an object or a list.
func (p *position) each(visit func(*position)) {
	switch p.node.Kind {
	case yaml.MappingNode:
		for n := range len(p.node.Content) / 2 {
			visit(p.field(n))
		}
	case yaml.SequenceNode:
		for n := range p.node.Content {
			visit(p.item(n))
		}
	}
}

// entries calls visit with each value, if the position is an object.
func (p *position) entries(visit func(*position)) {
	if p != nil && p.isObject() {
		p.each(visit)
	}
}

// get returns the position of a field of an object, or nil.
func (p *position) get(key string) *position {
	if p == nil || !p.isObject() {
		return nil
	}
	for n := range len(p.node.Content) / 2 {
		if p.node.Content[2*n].Value == key {
			return p.field(n)
		}
	}
	return nil
}

// text returns the string at the position, or false if it is not a string.
func (p *position) text() (string, bool) {
	if p == nil || p.node.Kind != yaml.ScalarNode || p.node.ShortTag() != "!!str" {
		return "", false
	}
	return p.node.Value, true
}

// kind names what is at the position.
func (p *position) kind() string {
	switch p.node.Kind {
	case yaml.MappingNode:
		return "an object"
	case yaml.SequenceNode:
		return "a list"
	}
	switch p.node.ShortTag() {
	case "!!bool":
		return "a boolean"
	case "!!int", "!!float":
		return "a number"
	case "!!null":
		return "null"
	}
	return "a string"
}

// paths writes paths as they are in the object, where the text has different keys.
type paths struct {
	// renamed maps paths in the text to paths in the object.
	renamed map[string]string
}

var plainKey = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// of returns the path of a position.
func (p *paths) of(at *position) string {
	var steps []*position
	for ; at != nil && at.parent != nil; at = at.parent {
		steps = append(steps, at)
	}
	path := "program"
	for n := len(steps) - 1; n >= 0; n-- {
		path += step(steps[n])
		if renamed, ok := p.renamed[path]; ok {
			path = renamed
		}
		if len(path) > maxPath {
			return bounded.Line(path, maxPath)
		}
	}
	return path
}

func step(at *position) string {
	switch {
	case at.isIndex:
		return fmt.Sprintf("[%d]", at.index)
	case plainKey.MatchString(at.key), strings.HasPrefix(at.key, "fn::"):
		return "." + at.key
	}
	return "[" + strconv.Quote(at.key) + "]"
}

// renamedPaths returns the renamed paths of the config: a Main.yaml has a single config
// section, and the value of a declaration becomes its default.
func renamedPaths(object map[string]any) map[string]string {
	renamed := map[string]string{}
	for _, section := range []string{"configuration", "config"} {
		declarations, _ := object[section].(map[string]any)
		for name, declaration := range declarations {
			in := "program.config" + step(&position{key: name})
			out := "program." + section + step(&position{key: name})
			if in != out {
				renamed[in] = out
			}
			fields, _ := declaration.(map[string]any)
			_, valued := fields["value"]
			if _, defaulted := fields["default"]; valued && !defaulted {
				renamed[out+".default"] = out + ".value"
			}
		}
	}
	return renamed
}
