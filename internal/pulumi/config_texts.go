// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"cmp"
	"encoding/json"
	"maps"
	"strconv"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/config"
	"github.com/pulumi/pulumi/sdk/v3/go/common/workspace"
	"gopkg.in/yaml.v3"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// keepTexts returns the run with its config values written in a way that a program in
// Pulumi YAML gets them as they are where it declares them as strings. Whatever the
// program declares, Pulumi YAML turns a value into a number, a boolean or an object if it
// can be read as one, so that an account number arrives as 1.23456789012e+11 in the
// middle of a text (pulumi-yaml#602). It takes a JSON string for the text in it.
func keepTexts(project *workspace.Project, program *programFile, r run.Run) run.Run {
	if program == nil {
		return r
	}
	declared := declaredTexts(project, program.text)
	isText := func(name string) bool {
		key, err := configKey(project.Name.String(), name)
		return err == nil && declared[key]
	}
	r.Config, r.Secrets = maps.Clone(r.Config), maps.Clone(r.Secrets)
	for name, raw := range r.Config {
		if isText(name) {
			r.Config[name] = textOfConfig(raw)
		}
	}
	for name, secret := range r.Secrets {
		if isText(name) {
			r.Secrets[name] = asText(secret)
		}
	}
	return r
}

// textOfConfig returns a config value in JSON as a text. Objects and lists stay what they
// are, and what is no config value is reported elsewhere.
func textOfConfig(raw json.RawMessage) json.RawMessage {
	value, err := configValue(raw)
	if err != nil || value.Object() {
		return raw
	}
	text, err := value.Value(config.NopDecrypter)
	if err != nil {
		return raw
	}
	return jsonString(asText(text))
}

// asText returns a config value that Pulumi YAML reads as the text. A text that is JSON
// already stays as it is if it is a string, which people write to get the text in it, or an
// object or a list: programs take those for what they are, as outputs of other stacks.
func asText(text string) string {
	if isReadAsText(text) || strings.ContainsAny(strings.TrimSpace(text)[:1], `"{[`) {
		return text
	}
	return string(jsonString(text))
}

func jsonString(text string) json.RawMessage {
	raw, _ := json.Marshal(text) // a string can always be encoded
	return raw
}

// isReadAsText mirrors how Pulumi YAML reads a config value.
func isReadAsText(text string) bool {
	if len(text) > 1 && strings.HasPrefix(text, "0") && !strings.HasPrefix(text, "0.") {
		return true
	}
	_, notInteger := strconv.ParseInt(text, 10, 64)
	_, notBoolean := strconv.ParseBool(text)
	_, notNumber := strconv.ParseFloat(text, 64)
	return notInteger != nil && notBoolean != nil && notNumber != nil && !json.Valid([]byte(text))
}

// textKeys are config keys that a program declares: true if each of the declarations is
// that of a string which Pulumi YAML would convert.
type textKeys map[config.Key]bool

func (t textKeys) note(project *workspace.Project, name string, isText bool) {
	key, err := configKey(project.Name.String(), name)
	if err != nil || key.Namespace() != project.Name.String() {
		return // that of a provider, which gets the value as it is written
	}
	before, known := t[key]
	t[key] = isText && (before || !known)
}

// declaredTexts returns the keys that the Pulumi.yaml and the text of a program in Pulumi
// YAML declare.
func declaredTexts(project *workspace.Project, text []byte) textKeys {
	keys := textKeys{}
	for name, declared := range project.Config {
		standard, isText := declared.Default.(string)
		switch {
		case declared.IsExplicitlyTyped():
			keys.note(project, name, declared.TypeName() == "string")
		case declared.Default != nil:
			keys.note(project, name, isText && !isReference(standard))
		}
	}
	for name, declaration := range configDeclarations(text) {
		fields := map[string]yaml.Node{}
		if declaration.Decode(&fields) != nil {
			continue // Pulumi reports it, or takes it for a value
		}
		kind, standard, key := fields["type"].Value, fields["default"], fields["name"].Value
		switch {
		case key != "" && key != name, strings.Contains(name, ":"):
			// Under another name than that of its key, Pulumi YAML does not convert a value.
			keys.note(project, cmp.Or(key, name), false)
		case kind != "":
			keys.note(project, name, strings.EqualFold(kind, "string"))
		case !standard.IsZero():
			keys.note(project, name, standard.ShortTag() == "!!str" && !isReference(standard.Value))
		}
	}
	return keys
}

// configDeclarations returns the declarations in both config sections of a Pulumi YAML
// text, of which config wins.
func configDeclarations(text []byte) map[string]yaml.Node {
	var sections map[string]yaml.Node
	if yaml.Unmarshal(text, &sections) != nil {
		return nil
	}
	found := map[string]yaml.Node{}
	for _, name := range []string{"configuration", "config"} {
		for section, node := range sections {
			declarations := map[string]yaml.Node{}
			if strings.EqualFold(section, name) && node.Decode(&declarations) == nil {
				maps.Copy(found, declarations)
			}
		}
	}
	return found
}

// isReference reports whether a text is nothing but a reference, whose value may be of any
// type.
func isReference(text string) bool {
	return strings.HasPrefix(text, "${") && strings.HasSuffix(text, "}") && strings.Count(text, "${") == 1
}
