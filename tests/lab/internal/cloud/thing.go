// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package cloud

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
)

// ErrNotFound reports that the cloud has no thing with that ID.
var ErrNotFound = errors.New("not found")

// Thing is the content of a thing's file. It has no secrets, so that a test can search
// the whole directory for leaks.
type Thing struct {
	Name string `json:"name"`
	// Value is nil if the thing has none, as opposed to an empty one.
	Value *string           `json:"value,omitzero"`
	Tags  map[string]string `json:"tags,omitzero"`
}

// CheckName checks that a name can be (part of) a file name in the cloud: letters,
// digits, dot, dash and underscore, at most 100 of them, the first a letter or digit. IDs
// follow the same rule, with room for the cloud's suffix.
func CheckName(name string) error {
	if len(name) > 100 {
		return fmt.Errorf("name of %d characters, at most 100 are allowed", len(name))
	}
	return checkFileName(name)
}

func checkFileName(name string) error {
	if len(name) > 120 || !regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`).MatchString(name) {
		return fmt.Errorf("%q is not made of letters, digits, dot, dash and underscore, beginning with a letter or digit", name)
	}
	return nil
}

// NewID returns the ID of a thing about to be created, "<name>-<8 hex digits>". As in a
// real cloud, each call returns a new one, so a thing that is created twice exists twice.
func NewID(name string) (string, error) {
	if err := CheckName(name); err != nil {
		return "", fmt.Errorf("making an id: %w", err)
	}
	random := make([]byte, 4)
	if _, err := rand.Read(random); err != nil {
		return "", fmt.Errorf("making an id for %s: %w", name, err)
	}
	return name + "-" + hex.EncodeToString(random), nil
}

// Create creates the thing. It appears whole or not at all, even if the process is
// killed.
func (c *Cloud) Create(id string, thing Thing) error {
	if err := c.write(id, thing); err != nil {
		return fmt.Errorf("creating thing %s: %w", id, err)
	}
	return nil
}

// Update replaces the content of a thing. It returns ErrNotFound if the thing is gone,
// and does not bring it back.
func (c *Cloud) Update(id string, thing Thing) error {
	if _, err := c.Read(id); err != nil {
		return fmt.Errorf("updating: %w", err)
	}
	if err := c.write(id, thing); err != nil {
		return fmt.Errorf("updating thing %s: %w", id, err)
	}
	return nil
}

// Read returns the content of the thing's file, or ErrNotFound.
func (c *Cloud) Read(id string) (Thing, error) {
	path, err := c.path(id)
	if err != nil {
		return Thing{}, err
	}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Thing{}, fmt.Errorf("thing %s: %w", id, ErrNotFound)
	}
	if err != nil {
		return Thing{}, fmt.Errorf("reading thing %s: %w", id, err)
	}
	var thing Thing
	if err := json.Unmarshal(text, &thing); err != nil {
		return Thing{}, fmt.Errorf("reading thing %s: %w", id, err)
	}
	return thing, nil
}

// Delete removes the thing. It succeeds if the thing is already gone.
func (c *Cloud) Delete(id string) error {
	path, err := c.path(id)
	if err != nil {
		return err
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("deleting thing %s: %w", id, err)
	}
	return nil
}

// path guards against IDs that leave the directory: an ID may come from a `pulumi
// import`.
func (c *Cloud) path(id string) (string, error) {
	if err := checkFileName(id); err != nil {
		return "", fmt.Errorf("id of a thing: %w", err)
	}
	return filepath.Join(c.things(), id+".json"), nil
}

// write writes a file atomically. The temporary file is not in things/, because a killed
// process leaves it behind and it must not be taken for a thing.
func (c *Cloud) write(id string, thing Thing) error {
	path, err := c.path(id)
	if err != nil {
		return err
	}
	if err := c.prepare(); err != nil {
		return err
	}
	text, err := json.MarshalIndent(thing, "", "  ")
	if err != nil {
		return err
	}
	temp, err := writeTemp(c.tmp(), id, append(text, '\n'))
	if err != nil {
		return err
	}
	if err := os.Rename(temp, path); err != nil {
		return errors.Join(err, os.Remove(temp))
	}
	return syncDir(c.things())
}

func writeTemp(dir, id string, text []byte) (string, error) {
	file, err := os.CreateTemp(dir, id+".*")
	if err != nil {
		return "", err
	}
	_, writeErr := file.Write(text)
	if err := errors.Join(writeErr, file.Sync(), file.Close()); err != nil {
		return "", errors.Join(err, os.Remove(file.Name()))
	}
	return file.Name(), nil
}

func syncDir(dir string) error {
	file, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}
