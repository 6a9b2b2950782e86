// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package grammar

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ConfigKey names a config value.
type ConfigKey struct{ Namespace, Name string }

// ParseConfigKey parses a config key, <namespace>:<name> or the older
// <namespace>:config:<name>. Without a namespace it gets that of the project, as in
// `pulumi config`.
func ParseConfigKey(project, text string) (ConfigKey, error) {
	full := text
	if !strings.Contains(text, ":") {
		full = project + ":" + text
	}
	key, err := splitKey(full)
	switch {
	case err != nil:
	case key.Name == "":
		err = errors.New("it has no name")
	case strings.HasPrefix(text, ":"):
		// Nothing would ever read it: a program has its own namespace, and so do
		// providers.
		err = errors.New("it has no namespace before the colon")
	}
	if err != nil {
		return ConfigKey{}, fmt.Errorf("config key %q: %w", text, err)
	}
	return key, nil
}

func splitKey(text string) (ConfigKey, error) {
	parts := strings.Split(text, ":")
	switch {
	case len(parts) == 2:
		return ConfigKey{parts[0], parts[1]}, nil
	case len(parts) == 3 && parts[1] == "config":
		return ConfigKey{parts[0], parts[2]}, nil
	}
	return ConfigKey{}, errors.New("it must be <namespace>:<name>")
}

// SameConfigKey finds two names of the same config value, such as a and demo:a in the
// project demo. Without a project, it does not recognize such pairs. Invalid keys are
// skipped, and refused elsewhere.
func SameConfigKey(project string, names []string) (one, other string, found bool) {
	seen := make(map[ConfigKey]string, len(names))
	for _, name := range slices.Sorted(slices.Values(names)) {
		key, err := ParseConfigKey(project, name)
		if err != nil {
			continue
		}
		if one, found := seen[key]; found {
			return one, name, true
		}
		seen[key] = name
	}
	return "", "", false
}

// InProgram returns the name of the value in a Pulumi YAML program.
func (k ConfigKey) InProgram(project string) string {
	return strings.TrimPrefix(k.Namespace+":"+k.Name, project+":")
}

// ShadowedProblem describes a config value with the name of a resource in a Pulumi YAML
// program. The name of a variable is fine: the config then sets the variable.
const ShadowedProblem = "is also the name of a resource of the program: Pulumi YAML would use the config value instead and delete the resource. Rename one of the two"
