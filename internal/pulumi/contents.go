// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/flux-pulumi/pulumi-controller/internal/mask"
)

// maxResource bounds a resource of a state, in bytes. The state itself may be of any size:
// it is never in memory as a whole.
const maxResource = 32 << 20

// contents is what is read of a state that may be about to lose resources.
type contents struct {
	// secrets are those in plain text. hasSecrets is also set if the text does not show
	// them.
	secrets    mask.StateSecrets
	hasSecrets bool
	// dynamic is the type of a resource of a dynamic provider, empty if there is none.
	dynamic string
}

// readContents reads an exported state, or the file in which a backend keeps it.
func readContents(from io.Reader) (contents, error) {
	var c contents
	bounded := &budget{from: from}
	s := stateReader{json: json.NewDecoder(bounded), each: func(resource json.RawMessage) error {
		bounded.read = 0
		return c.add(resource)
	}}
	err := s.members("deployment", "checkpoint", "latest")
	if err != nil && bounded.over {
		err = fmt.Errorf("a resource in the state is longer than %d bytes", maxResource)
	}
	return c, err
}

func (c *contents) add(resource json.RawMessage) error {
	var known struct {
		Type string `json:"type"`
	}
	if json.Unmarshal(resource, &known) != nil {
		return errNotState
	}
	if isDynamic(known.Type) {
		c.dynamic = known.Type
	}
	if isSecret(resource) {
		c.hasSecrets = true
		return c.secrets.Add(resource)
	}
	return nil
}

// knownContents is what is known of the state without a process: from the last export, or
// from the file of a file backend. It is nil if nothing is known.
func (s *session) knownContents() *contents {
	if s.state != nil {
		return &s.state.contents
	}
	kept := keptIn(s.run.Backend)
	if kept == "" {
		return nil
	}
	_, name, _ := strings.Cut(s.stack, "/") // without "organization"
	path := filepath.Join(kept, "stacks", filepath.FromSlash(name)+".json")
	if !exists(path) && !exists(path+".gz") {
		return &contents{} // there is no stack
	}
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
		return nil // reading anything but a regular file may block forever
	}
	file, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer func() { _ = file.Close() }() // only read
	read, err := readContents(file)
	if err != nil {
		return nil
	}
	return &read
}

// errNotState leaves out the error of the decoder, which may quote the text.
var errNotState = errors.New("the state that Pulumi has printed is not a state")

// stateReader passes on each resource of a state, and skips the rest.
type stateReader struct {
	json *json.Decoder
	each func(resource json.RawMessage) error
}

// members reads an object: the objects in it with one of the names likewise, and the
// resources of the state.
func (s *stateReader) members(names ...string) error {
	if begin, err := s.json.Token(); err != nil || begin != json.Delim('{') {
		return stateError(err, begin == nil) // an empty stack has no deployment
	}
	for s.json.More() {
		token, err := s.json.Token()
		if err != nil {
			return errNotState
		}
		name, _ := token.(string)
		var skipped json.RawMessage
		switch {
		case name == "resources", name == "pending_operations":
			err = s.resources()
		case slices.Contains(names, name):
			err = s.members(names...)
		default:
			err = s.json.Decode(&skipped)
		}
		if err != nil {
			return err
		}
	}
	_, err := s.json.Token()
	return stateError(err, true)
}

func (s *stateReader) resources() error {
	if begin, err := s.json.Token(); err != nil || begin != json.Delim('[') {
		return stateError(err, begin == nil)
	}
	for s.json.More() {
		var resource json.RawMessage
		if s.json.Decode(&resource) != nil {
			return errNotState
		}
		if err := s.each(resource); err != nil {
			return err
		}
	}
	_, err := s.json.Token()
	return stateError(err, true)
}

func stateError(err error, isFine bool) error {
	if err != nil || !isFine {
		return errNotState
	}
	return nil
}

// budget ends a text in which too much is read at a time.
type budget struct {
	from io.Reader
	read int
	over bool
}

func (b *budget) Read(p []byte) (int, error) {
	if b.over = b.over || b.read >= maxResource; b.over {
		return 0, io.ErrUnexpectedEOF
	}
	n, err := b.from.Read(p[:min(len(p), maxResource-b.read)])
	b.read += n
	return n, err
}
