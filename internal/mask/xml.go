// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package mask

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"

	"gopkg.in/yaml.v3"
)

// structureInXML reads an XML document as YAML: the attributes and children of an element
// become its fields, its text its value. It returns false if the text is not XML, or
// stops being XML somewhere.
func structureInXML(value string) ([]*yaml.Node, bool) {
	trimmed := strings.TrimSpace(value)
	if len(value) > maxStructure || !strings.HasPrefix(trimmed, "<") || !strings.Contains(trimmed, "</") && !strings.Contains(trimmed, "/>") {
		return nil, false
	}
	decoder := xml.NewDecoder(strings.NewReader(trimmed))
	decoder.Strict = false // tolerate missing end tags
	decoder.CharsetReader = func(_ string, input io.Reader) (io.Reader, error) { return input, nil }
	open := []*element{{node: &yaml.Node{Kind: yaml.MappingNode}}}
	for {
		token, err := decoder.Token()
		if err != nil {
			top := open[0].node
			if len(top.Content) == 0 {
				return nil, false
			}
			return []*yaml.Node{top}, errors.Is(err, io.EOF)
		}
		last := open[len(open)-1]
		switch token := token.(type) {
		case xml.StartElement:
			open = append(open, newElement(token))
		case xml.CharData:
			last.text.Write(token)
		case xml.EndElement:
			if open = open[:len(open)-1]; len(open) == 0 {
				return nil, false
			}
			open[len(open)-1].add(last.name, last.done())
		}
	}
}

// element is an element that is still open.
type element struct {
	name string
	node *yaml.Node
	text strings.Builder
	// key is the name of the next value in a property list.
	key string
}

func newElement(start xml.StartElement) *element {
	e := &element{name: start.Name.Local, node: &yaml.Node{Kind: yaml.MappingNode}}
	for _, attribute := range start.Attr {
		e.add(attribute.Name.Local, scalar(attribute.Value))
	}
	return e
}

func (e *element) add(name string, node *yaml.Node) {
	if e.key != "" {
		name, e.key = e.key, ""
	} else if name == "key" && node.Kind == yaml.ScalarNode {
		e.key = node.Value
		return
	}
	e.node.Content = append(e.node.Content, scalar(name), node)
}

// done returns the finished element: just its text if it has no fields.
func (e *element) done() *yaml.Node {
	if e.key != "" {
		e.node.Content = append(e.node.Content, scalar("key"), scalar(e.key))
	}
	text := strings.TrimSpace(e.text.String())
	if len(e.node.Content) == 0 {
		return scalar(text)
	}
	if text != "" {
		e.add("value", scalar(text))
	}
	return e.node
}

func scalar(text string) *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Value: text} }
