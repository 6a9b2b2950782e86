// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/config"

	"github.com/flux-pulumi/pulumi-controller/internal/grammar"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// checkShadowed rejects config with the name of a resource of a Pulumi YAML program.
// Pulumi YAML then resolves the name to the config value and ignores the resource, so
// that the engine deletes it.
//
// Values from Pulumi ESC environments are not known here.
func checkShadowed(root *os.Root, place placedProject, stack string, r run.Run, program *programFile) error {
	if program == nil || len(program.resources) == 0 {
		return nil
	}
	keys, err := configKeys(root, place, stack, r)
	if err != nil {
		return err
	}
	project := place.project.Name.String()
	for _, key := range slices.SortedFunc(slices.Values(keys), func(a, b config.Key) int { return strings.Compare(a.String(), b.String()) }) {
		name := grammar.ConfigKey{Namespace: key.Namespace(), Name: key.Name()}.InProgram(project)
		if program.resources[name] {
			return fmt.Errorf("config key %q %s, or remove the config value", key, grammar.ShadowedProblem)
		}
	}
	return nil
}

// configKeys are the keys of all values given to the program: by the run,
// Pulumi.<stack>.yaml and Pulumi.yaml.
func configKeys(root *os.Root, place placedProject, stack string, r run.Run) ([]config.Key, error) {
	settings, err := readStackFile(root, place.project, stackFile(place, stack))
	if err != nil {
		return nil, err
	}
	keys := slices.Collect(maps.Keys(settings.Config))
	names := slices.Concat(slices.Collect(maps.Keys(r.Config)), slices.Collect(maps.Keys(r.Secrets)), slices.Collect(maps.Keys(r.Program.Config)))
	for name, declared := range place.project.Config {
		if declared.Value != nil || declared.Default != nil {
			names = append(names, name)
		}
	}
	for _, name := range names {
		key, err := configKey(place.project.Name.String(), name)
		if err != nil {
			return nil, err
		}
		keys = append(keys, key)
	}
	return keys, nil
}
