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

// maxStateSecrets bounds the secrets of a state that are masked, in bytes together.
// The shortest come first: what is long is a file or a list of many things, of which
// an error has no more than a part.
const maxStateSecrets = 1 << 20

// InState lists the secrets in an exported state that has them in plain. One
// of fewer than four characters is none, and neither is a boolean: outputs become
// secret by what they are made of, and a text without any "1" in it says nothing.
func InState(exported []byte) ([]string, error) {
	decoder := json.NewDecoder(bytes.NewReader(exported))
	// The plaintext of one object after the other: a state is too big to be held as a
	// whole once more.
	var found []string
	var last json.Token
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			// Without the error's own words, which may have some of the text in it.
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

// plaintext is a secret of a state, which is written as JSON. A list or an object
// stays as it is: the masker knows its parts.
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
