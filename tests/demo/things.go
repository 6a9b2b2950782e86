// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"maps"

	"github.com/flux-pulumi/pulumi-controller/tests/cloud"
)

// showThings shows the files of the cloud.
func (d *demo) showThings() error {
	things, err := d.cloud().Things()
	if err != nil {
		return err
	}
	lines, err := thingLines(things)
	if err != nil {
		return err
	}
	d.screen.say("", append([]string{"  $ head " + d.cloudDir() + "/things/*"}, lines...)...)
	return nil
}

// thingLines writes each thing as its file and what is in it.
func thingLines(things []cloud.Thing) ([]string, error) {
	width := 0
	for _, thing := range things {
		width = max(width, len(thing.ID))
	}
	var lines []string
	for _, thing := range things {
		text, err := json.Marshal(thing)
		if err != nil {
			return nil, fmt.Errorf("writing thing %s: %w", thing.ID, err)
		}
		lines = append(lines, fmt.Sprintf("  %-*s  %s", width+len(".json"), thing.ID+".json", text))
	}
	return lines, nil
}

// expectThings fails unless the cloud has exactly these things, by name, with
// these values.
func (d *demo) expectThings(want map[string]string) error {
	got, err := d.values()
	if err != nil {
		return err
	}
	if !maps.Equal(got, want) {
		return fmt.Errorf("the cloud has %q where %q was expected", got, want)
	}
	return nil
}

// expectThing fails unless the cloud has a thing with this value.
func (d *demo) expectThing(name, want string) error {
	values, err := d.values()
	if err != nil {
		return err
	}
	if got, ok := values[name]; !ok || got != want {
		return fmt.Errorf("the cloud has %q where %s with the value %q was expected", values, name, want)
	}
	return nil
}

// values are the values of all things by name.
func (d *demo) values() (map[string]string, error) {
	things, err := d.cloud().Things()
	if err != nil {
		return nil, err
	}
	values := map[string]string{}
	for _, thing := range things {
		if _, twice := values[thing.Name]; twice {
			return nil, fmt.Errorf("the cloud has %s twice", thing.Name)
		}
		value := ""
		if thing.Value != nil {
			value = *thing.Value
		}
		values[thing.Name] = value
	}
	return values, nil
}
