// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"bytes"
	"encoding/json"
	"errors"
)

const (
	// The signature that Pulumi puts into an object that stands for something else.
	signatureKey    = "4dabf18193072939515e22adb298388d"
	secretSignature = "1b47061264138c4ac30d75fd1eb44270"
	// A resource as a whole, by its URN and its ID.
	resourceSignature = "5cf8f73096256a8f31e491e813e4eb8e"
)

// unsigned has an object that stands for a resource say its URN and its ID, without
// what only Pulumi can make something of. Another object is as it is: the CLI prints
// it so too.
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

// plainOutput is an output that the CLI has printed, as it is handed on. The error
// has none of it.
func plainOutput(raw json.RawMessage) (json.RawMessage, error) {
	if !bytes.Contains(raw, []byte(signatureKey)) {
		return raw, nil
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber() // as it is written, however long it is
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
