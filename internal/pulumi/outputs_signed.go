// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"bytes"
	"encoding/json"
	"errors"
)

const (
	// The signature by which Pulumi marks objects that stand for something else.
	signatureKey    = "4dabf18193072939515e22adb298388d"
	secretSignature = "1b47061264138c4ac30d75fd1eb44270"
	// A whole resource, given by its URN and ID.
	resourceSignature = "5cf8f73096256a8f31e491e813e4eb8e"
)

// unsigned reduces an object that stands for a resource to its URN and ID, without what
// only Pulumi understands. It returns any other object as it is, as the CLI does.
func unsigned(object map[string]any) map[string]any {
	if object[signatureKey] != resourceSignature {
		return object
	}
	delete(object, signatureKey)
	if object["packageVersion"] == "" {
		delete(object, "packageVersion")
	}
	return object
}

// plainOutput converts an output printed by the CLI to the form to pass on. The error
// contains none of it.
func plainOutput(raw json.RawMessage) (json.RawMessage, error) {
	if !bytes.Contains(raw, []byte(signatureKey)) {
		return raw, nil
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber() // keep numbers as written, however long
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, errors.New("an output that Pulumi has printed is not JSON")
	}
	text, err := json.Marshal(withoutSignatures(value))
	if err != nil {
		return nil, errors.New("an output cannot be written as JSON")
	}
	return text, nil
}

func withoutSignatures(value any) any {
	switch value := value.(type) {
	case []any:
		for i := range value {
			value[i] = withoutSignatures(value[i])
		}
	case map[string]any:
		for key, inner := range value {
			value[key] = withoutSignatures(inner)
		}
		return unsigned(value)
	}
	return value
}
