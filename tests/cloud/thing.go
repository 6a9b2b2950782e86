// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package cloud

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Thing is one thing that exists.
type Thing struct {
	// ID is the file name without its extension.
	ID   string `json:"-"`
	Name string `json:"name"`
	// Value is nil when the thing has none.
	Value *string           `json:"value,omitzero"`
	Tags  map[string]string `json:"tags,omitzero"`
}

// Things returns all things that exist, sorted by ID.
func (c *Cloud) Things() ([]Thing, error) {
	names, err := c.files()
	if err != nil {
		return nil, err
	}
	var things []Thing
	for _, name := range names {
		thing, err := c.thing(strings.TrimSuffix(name, ".json"))
		if errors.Is(err, fs.ErrNotExist) {
			continue // deleted since the directory was listed
		}
		if err != nil {
			return nil, err
		}
		things = append(things, thing)
	}
	return things, nil
}

// Edit changes a thing behind Pulumi's back, to cause drift. The error is fs.ErrNotExist when there is no such thing.
func (c *Cloud) Edit(id string, change func(*Thing)) error {
	thing, err := c.thing(id)
	if err != nil {
		return err
	}
	change(&thing)
	text, err := json.MarshalIndent(thing, "", "  ")
	if err != nil {
		return fmt.Errorf("editing thing %s: %w", id, err)
	}
	// Rename, as the provider may be reading the file.
	temp := filepath.Join(c.dir, "edit-"+id)
	if err := os.WriteFile(temp, append(text, '\n'), 0o600); err != nil {
		return fmt.Errorf("editing thing %s: %w", id, err)
	}
	if err := os.Rename(temp, c.path(id)); err != nil {
		return fmt.Errorf("editing thing %s: %w", id, err)
	}
	return nil
}

// Remove deletes a thing behind Pulumi's back. The error is fs.ErrNotExist when there is no such thing.
func (c *Cloud) Remove(id string) error {
	if err := os.Remove(c.path(id)); err != nil {
		return fmt.Errorf("removing thing %s: %w", id, err)
	}
	return nil
}

func (c *Cloud) path(id string) string { return filepath.Join(c.dir, "things", id+".json") }

func (c *Cloud) thing(id string) (Thing, error) {
	text, err := os.ReadFile(c.path(id))
	if err != nil {
		return Thing{}, fmt.Errorf("reading thing %s: %w", id, err)
	}
	thing := Thing{ID: id}
	if err := json.Unmarshal(text, &thing); err != nil {
		return Thing{}, fmt.Errorf("reading thing %s: %w", id, err)
	}
	return thing, nil
}
