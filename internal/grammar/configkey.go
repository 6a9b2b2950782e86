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

// ParseConfigKey reads the key of a config value, <namespace>:<name>, or the older
// <namespace>:config:<name>. One without a namespace gets that of the project, as
// `pulumi config` does.
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
		// Nobody would ever ask for it: a program has its own namespace, and providers theirs.
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
	return ConfigKey{}, errors.New("it is not of the form <namespace>:<name>")
}

// SameConfigKey finds two names of one config value, such as a and demo:a of the
// project demo, and is false where there are none. Without a project that is not
// found out of a name without a namespace. What is no key is for others to refuse.
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

// InProgram is the name by which a program in Pulumi YAML knows the value.
func (k ConfigKey) InProgram(project string) string {
	return strings.TrimPrefix(k.Namespace+":"+k.Name, project+":")
}

// ShadowedProblem is what becomes of a resource of a program in Pulumi YAML which has the
// name of a config value. A variable of that name is no fault: to give it by config is to
// say what it is.
const ShadowedProblem = "is the name of a resource of the program, too: Pulumi YAML would take the value in its place, and delete the resource: rename one of the two"
