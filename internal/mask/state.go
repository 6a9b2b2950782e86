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

// InState lists the secrets in a state exported with plaintext secrets. It skips booleans
// and values shorter than four characters: outputs become secret through what they are
// computed from, and a text with every "1" masked is unreadable.
func InState(exported []byte) ([]string, error) {
	decoder := json.NewDecoder(bytes.NewReader(exported))
	// Read token by token: the state is too big to hold in memory a second time.
	var found []string
	var last json.Token
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			// The decoder's error may quote the text, so it is left out.
			return nil, errors.New("the state that Pulumi has printed is not JSON")
		}
		if text, ok := token.(string); ok && last == json.Token("plaintext") {
			found = append(found, plaintext(text)...)
		}
		last = token
	}
	slices.SortFunc(found, func(a, b string) int { return cmp.Or(len(a)-len(b), strings.Compare(a, b)) })
	found = slices.Compact(found)
	total := 0
	for n, text := range found {
		if total += len(text); total > maxStateSecrets {
			return found[:n], nil
		}
	}
	return found, nil
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
