// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"encoding/json"
	"regexp"
	"strconv"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/config"
	"github.com/pulumi/pulumi/sdk/v3/go/common/workspace"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// autonaming returns the values of pulumi:autonaming, as JSON, from all places of a run that may have one.
func autonaming(project *workspace.Project, settings *workspace.ProjectStack, r run.Run) []string {
	var found []string
	wanted := config.MustMakeKey("pulumi", "autonaming")
	add := func(name string, value any) {
		if key, err := configKey(project.Name.String(), name); err != nil || key != wanted {
			return
		}
		if text, err := json.Marshal(value); err == nil {
			found = append(found, string(text))
		}
	}
	for name, declared := range project.Config {
		add(name, declared.Value)
	}
	for name, value := range r.Program.Config {
		add(name, value)
	}
	for name, value := range r.Config {
		add(name, value)
	}
	for name, value := range r.Secrets {
		add(name, value)
	}
	if value, isSet := settings.Config[wanted]; isSet {
		if text, err := value.Value(config.NopDecrypter); err == nil {
			add(wanted.String(), text)
		}
	}
	return found
}

// leastRandom is how many random characters at the end of a name are enough to recognize it. Fewer
// than the default of the SDK are only looked for if a pattern of pulumi:autonaming asks for so few:
// any number in a program ends in the same four digits by chance, once in 10,000 times.
func leastRandom(autonaming []string) int {
	least := minRandom
	random := regexp.MustCompile(`\$\{(?:hex|alphanum|string|num)\((\d+)\)\}`)
	for _, text := range autonaming {
		for _, pattern := range random.FindAllStringSubmatch(text, -1) {
			if count, err := strconv.Atoi(pattern[1]); err == nil && count >= minRandomOfName {
				least = min(least, count)
			}
		}
	}
	return least
}
