// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"reflect"

	"github.com/pulumi/pulumi/sdk/v3/go/common/encoding"
	"gopkg.in/yaml.v3"
)

// setBinary has the project file in the workspace name an executable.
func (s *session) setBinary(root *os.Root, executable string) error {
	dir, err := filepath.Rel(s.dir.Workspace(), s.program)
	if err != nil {
		return err
	}
	place, err := loadProject(root, dir)
	if err != nil {
		return err
	}
	text, err := readBounded(root, place.file)
	if err != nil {
		return err
	}
	marshaler := encoding.Marshalers[path.Ext(place.file)]
	if text, err = withBinary(text, executable, marshaler); err != nil {
		return fmt.Errorf("setting the option binary in %s: %w", path.Base(place.file), err)
	}
	return writeFile(root, place.file, text)
}

// errEdited is why a project file is left alone.
var errEdited = errors.New("the file cannot be edited")

// withBinary sets the option binary of the runtime in a project file, and changes nothing else
// that Pulumi reads of it.
func withBinary(text []byte, executable string, marshaler encoding.Marshaler) ([]byte, error) {
	var document yaml.Node // JSON is YAML too
	if err := yaml.Unmarshal(text, &document); err != nil {
		return nil, err
	}
	var before, after map[string]any
	if err := marshaler.Unmarshal(text, &before); err != nil {
		return nil, err
	}
	if len(document.Content) != 1 || !setRuntimeOption(document.Content[0], "binary", executable) {
		return nil, errEdited
	}
	edited, err := yaml.Marshal(&document)
	if err != nil {
		return nil, err
	}
	if err := marshaler.Unmarshal(edited, &after); err != nil {
		return nil, err
	}
	name, options := runtimeOf(before)
	options["binary"] = executable
	before["runtime"] = map[string]any{"name": name, "options": options}
	if !reflect.DeepEqual(before, after) {
		return nil, errEdited // such as one with anchors
	}
	return edited, nil
}

// runtimeOf reads the runtime of a project in both of its forms.
func runtimeOf(project map[string]any) (name any, options map[string]any) {
	runtime, isMap := project["runtime"].(map[string]any)
	if !isMap {
		return project["runtime"], map[string]any{}
	}
	options, _ = runtime["options"].(map[string]any)
	if options == nil {
		options = map[string]any{}
	}
	return runtime["name"], options
}

// setRuntimeOption returns false for a runtime in a form that it does not know.
func setRuntimeOption(project *yaml.Node, option, value string) bool {
	runtime := valueOf(project, "runtime")
	if runtime == nil {
		return false
	}
	if runtime.Kind == yaml.ScalarNode {
		name := *runtime
		*runtime = yaml.Node{Kind: yaml.MappingNode, Style: yaml.FlowStyle, Content: []*yaml.Node{quoted("name"), &name}}
	}
	options := valueOf(runtime, "options")
	if options == nil && runtime.Kind == yaml.MappingNode {
		options = &yaml.Node{Kind: yaml.MappingNode, Style: yaml.FlowStyle}
		runtime.Content = append(runtime.Content, quoted("options"), options)
	}
	if options == nil || options.Kind != yaml.MappingNode {
		return false
	}
	options.Content = append(options.Content, quoted(option), quoted(value))
	return true
}

// valueOf returns the value of a key, nil if there is none.
func valueOf(mapping *yaml.Node, key string) *yaml.Node {
	if mapping.Kind != yaml.MappingNode {
		return nil
	}
	for n := 0; n+1 < len(mapping.Content); n += 2 {
		if mapping.Content[n].Value == key {
			return mapping.Content[n+1]
		}
	}
	return nil
}

// quoted is a text that is one in JSON too.
func quoted(text string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Style: yaml.DoubleQuotedStyle, Value: text}
}
