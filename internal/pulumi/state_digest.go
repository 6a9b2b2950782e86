// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"os"
)

// stateDigest is the digest of an exported state, as far as it matters to what is done next:
// without times, the version that has written it, and where in the program a resource is.
// Secrets are ciphertext, which Pulumi keeps as it is while the value stays the same.
func stateDigest(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("reading the state of the stack: %w", err)
	}
	defer func() { _ = file.Close() }() // only read
	h := stateHash{json: json.NewDecoder(bufio.NewReader(file)), sum: sha256.New()}
	h.json.UseNumber()
	if err := h.members(h.exported); err != nil {
		return "", errors.Join(errNotState, err)
	}
	return "sha256:" + hex.EncodeToString(h.sum.Sum(nil)), nil
}

// stateHash reads a state one resource at a time: a state may be larger than the memory.
type stateHash struct {
	json *json.Decoder
	sum  hash.Hash
}

// exported reads a member of what pulumi stack export writes.
func (h *stateHash) exported(name string) error {
	if name == "deployment" {
		return h.members(h.deployment)
	}
	return h.skip()
}

// deployment reads a member of the state.
func (h *stateHash) deployment(name string) error {
	switch name {
	case "manifest":
		return h.skip()
	case "resources", "pending_operations":
		return h.list(name)
	}
	return h.add(name)
}

// members passes the name of each member of an object on, with its value still to be read. A
// null has none.
func (h *stateHash) members(each func(name string) error) error {
	begin, err := h.json.Token()
	if err != nil || begin == nil {
		return err
	}
	if begin != json.Delim('{') {
		return errNotState
	}
	for h.json.More() {
		name, err := h.json.Token()
		if err != nil {
			return err
		}
		if err := each(fmt.Sprint(name)); err != nil {
			return err
		}
	}
	_, err = h.json.Token()
	return err
}

// list adds each member of a list, which may be null.
func (h *stateHash) list(name string) error {
	begin, err := h.json.Token()
	if err != nil || begin == nil {
		return err
	}
	if begin != json.Delim('[') {
		return errNotState
	}
	for h.json.More() {
		if err := h.add(name); err != nil {
			return err
		}
	}
	_, err = h.json.Token()
	return err
}

// add adds the next value, in a form that does not depend on how it is written.
func (h *stateHash) add(name string) error {
	var value any
	if err := h.json.Decode(&value); err != nil {
		return err
	}
	text, err := json.Marshal(withoutTimes(value))
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(h.sum, "%s %d %s\n", name, len(text), text)
	return err
}

func (h *stateHash) skip() error {
	var skipped json.RawMessage
	return h.json.Decode(&skipped)
}

// withoutTimes drops of a resource, or of an operation on one, what changes nothing.
func withoutTimes(value any) any {
	object, ok := value.(map[string]any)
	if !ok {
		return value
	}
	for _, name := range []string{"created", "modified", "sourcePosition", "stackTrace"} {
		delete(object, name)
	}
	if resource, ok := object["resource"]; ok {
		object["resource"] = withoutTimes(resource)
	}
	return object
}
