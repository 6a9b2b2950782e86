// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package mask

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
)

// maxStateSecrets bounds the total size in bytes of the secrets of a state that are
// masked. The shortest come first: a long one is a file or a list, of which an error
// shows only a part.
const maxStateSecrets = 1 << 20

// StateSecrets collects the secrets in the resources of a state exported with plaintext
// secrets. It skips booleans and values shorter than four characters: outputs become secret
// through what they are computed from, and a text with every "1" masked is unreadable.
type StateSecrets struct {
	found []string
	size  int
}

// Add adds the secrets in a resource.
func (s *StateSecrets) Add(resource []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(resource))
	var last json.Token
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			// The decoder's error may quote the text, so it is left out.
			return errors.New("the state that Pulumi has printed is not JSON")
		}
		if text, ok := token.(string); ok && last == json.Token("plaintext") {
			s.add(plaintext(text))
		}
		last = token
	}
	return nil
}

func (s *StateSecrets) add(secrets []string) {
	for _, text := range secrets {
		s.found, s.size = append(s.found, text), s.size+len(text)
	}
	if s.size > 4*maxStateSecrets {
		s.prune()
	}
}

// Values lists the secrets, the shortest first.
func (s *StateSecrets) Values() []string {
	s.prune()
	return s.found
}

// prune keeps the shortest secrets, each once.
func (s *StateSecrets) prune() {
	slices.SortFunc(s.found, func(a, b string) int { return cmp.Or(len(a)-len(b), strings.Compare(a, b)) })
	s.found, s.size = slices.Compact(s.found), 0
	for n, text := range s.found {
		if s.size+len(text) > maxStateSecrets {
			s.found = s.found[:n]
			return
		}
		s.size += len(text)
	}
}

// MayHaveStateSecret reports whether a value decoded from JSON may have a secret in it that
// StateSecrets does not skip.
func MayHaveStateSecret(value any) bool {
	switch value := value.(type) {
	case nil, bool:
		return false
	case json.Number:
		return len(value) >= shortMask
	case string:
		return len(value) >= shortMask
	}
	return true
}

// plaintext returns the secret that the JSON in a plaintext field encodes. Lists and
// objects stay JSON: the masker knows their parts.
func plaintext(raw string) []string {
	raw = strings.TrimSpace(raw)
	switch {
	case len(raw) < shortMask, raw == "true", raw == "false", raw == "null", !json.Valid([]byte(raw)):
		return nil
	case raw[0] != '"':
		return []string{raw}
	}
	var text string
	if json.Unmarshal([]byte(raw), &text) != nil || len(strings.TrimSpace(text)) < shortMask {
		return nil
	}
	return []string{text}
}
