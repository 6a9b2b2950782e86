// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/config"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// configKey gives a key without a namespace that of the project, as `pulumi
// config` does.
func configKey(project, name string) (config.Key, error) {
	full := name
	if !strings.Contains(name, ":") {
		full = project + ":" + name
	}
	key, err := config.ParseKey(full)
	switch {
	case err != nil:
	case key.Name() == "":
		err = errors.New("it has no name")
	case strings.HasPrefix(name, ":"):
		// Nobody would ever ask for it: a program has its own namespace, and providers theirs.
		err = errors.New("it has no namespace before the colon")
	}
	if err != nil {
		return config.Key{}, fmt.Errorf("config key %q: %w", name, err)
	}
	return key, nil
}

// SameConfigKey finds two names of one config value, such as a and demo:a of the
// project demo, and is false where there are none. Without a project that is not
// found out of a name without a namespace. What is no key is for others to refuse.
func SameConfigKey(project string, names []string) (one, other string, found bool) {
	seen := make(map[config.Key]string, len(names))
	for _, name := range slices.Sorted(slices.Values(names)) {
		key, err := configKey(project, name)
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

// checkConfigKeys refuses a config value that is given twice: it would be left to
// chance which of the two counts.
func checkConfigKeys(project string, r run.Run) error {
	names := append(slices.Collect(maps.Keys(r.Config)), slices.Collect(maps.Keys(r.Secrets))...)
	one, other, found := SameConfigKey(project, names)
	switch {
	case !found:
		return nil
	case one == other:
		return fmt.Errorf("config key %q is given both as a plain value and as a secret", one)
	}
	return fmt.Errorf("%q and %q are two names of one config value of the project %q: remove one of the two", one, other, project)
}
