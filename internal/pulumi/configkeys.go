// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"fmt"
	"maps"
	"slices"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/config"

	"github.com/flux-pulumi/pulumi-controller/internal/grammar"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// configKey parses a key of the spec as a Pulumi config key.
func configKey(project, name string) (config.Key, error) {
	key, err := grammar.ParseConfigKey(project, name)
	if err != nil {
		return config.Key{}, err
	}
	return config.MustMakeKey(key.Namespace, key.Name), nil
}

// checkConfigKeys rejects config that sets a key twice: chance would decide which value
// counts.
func checkConfigKeys(project string, r run.Run) error {
	names := append(slices.Collect(maps.Keys(r.Config)), slices.Collect(maps.Keys(r.Secrets))...)
	one, other, found := grammar.SameConfigKey(project, names)
	switch {
	case !found:
		return nil
	case one == other:
		return fmt.Errorf("config key %q is given both as a plain value and as a secret", one)
	}
	return fmt.Errorf("%q and %q are two names of one config value of the project %q: remove one of the two", one, other, project)
}
