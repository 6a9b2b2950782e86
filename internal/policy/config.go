// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/flux-pulumi/pulumi-controller/internal/bounded"
)

// maxConfig bounds the config of a pack, in bytes.
const maxConfig = 256 << 10

// levelKey is the key of the level in the config of a policy.
const levelKey = "enforcementLevel"

// environmentsKey is what Pulumi takes for a list of environments of Pulumi ESC, and not for a
// policy. They would need an account of Pulumi Cloud of the platform team.
const environmentsKey = "environments"

// versionKey is, with a number, the mark of a newer form of Pulumi's file. Its exceptions let violations
// of mandatory policies through.
const versionKey = "version"

// Levels are those that config can give a policy.
func Levels() []string { return []string{"advisory", "mandatory", "remediate", "disabled"} }

// Config returns the config of a pack in the form of pulumi's --policy-pack-config, the same
// bytes for the same config. It is nil if there is none. What inline has for a policy replaces
// what the text, in JSON or YAML, has for it.
func Config(inline map[string]apiextensionsv1.JSON, from string) (json.RawMessage, error) {
	config, err := parse(from)
	if err != nil {
		return nil, err
	}
	for policy, value := range inline {
		parsed, err := decode(value.Raw)
		if err != nil {
			return nil, fmt.Errorf("the config of policy %s is not JSON: %w", shown(policy), err)
		}
		config[policy] = parsed
	}
	for _, policy := range slices.Sorted(maps.Keys(config)) {
		if config[policy], err = ofPolicy(policy, config[policy]); err != nil {
			return nil, err
		}
	}
	if len(config) == 0 {
		return nil, nil
	}
	text, err := json.Marshal(config) // sorts the keys
	if err != nil {
		return nil, fmt.Errorf("failed to encode the config: %w", err)
	}
	if len(text) > maxConfig {
		return nil, fmt.Errorf("the config has %d bytes, more than the limit of %d", len(text), maxConfig)
	}
	return text, nil
}

// parse reads an object from JSON or YAML.
func parse(text string) (map[string]any, error) {
	asJSON, err := yaml.YAMLToJSONStrict([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("the config is neither JSON nor YAML: %s", bounded.Text(err.Error(), maxShown))
	}
	parsed, err := decode(asJSON)
	if err != nil {
		return nil, fmt.Errorf("the config is not an object: %w", err)
	}
	switch config := parsed.(type) {
	case nil:
		return map[string]any{}, nil
	case map[string]any:
		return config, nil
	default:
		return nil, errors.New("the config is not an object: make it one, with the names of policies as keys")
	}
}

// decode keeps numbers as they are written: a float64 would change large ones.
func decode(text []byte) (any, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more follows after the value")
	}
	return value, nil
}

// ofPolicy returns the config of a policy as an object.
func ofPolicy(policy string, value any) (map[string]any, error) {
	if policy == "" {
		return nil, errors.New("the config has an empty key: use the name of a policy")
	}
	if policy == environmentsKey {
		return nil, errors.New("the config has environments: environments of Pulumi ESC are not supported in the config of policies, remove them")
	}
	if _, isNumber := value.(json.Number); isNumber && policy == versionKey {
		return nil, errors.New("the config has a version: this form, which has exceptions, is not supported, use the names of policies as keys")
	}
	object, isObject := value.(map[string]any)
	if !isObject {
		level, isText := value.(string)
		if !isText {
			return nil, fmt.Errorf("the config of policy %s must be a level or an object", shown(policy))
		}
		object = map[string]any{levelKey: level}
	}
	if level, ok := object[levelKey]; ok && !isLevel(level) {
		return nil, fmt.Errorf("the level of policy %s must be one of %s", shown(policy), strings.Join(Levels(), ", "))
	}
	return object, nil
}

func isLevel(value any) bool {
	level, ok := value.(string)
	return ok && slices.Contains(Levels(), level)
}

// maxShown bounds what a message shows of the config, in bytes.
const maxShown = 256

func shown(policy string) string { return bounded.Text(policy, maxShown) }
