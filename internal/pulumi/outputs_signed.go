// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"bytes"
	"encoding/json"
	"errors"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/sig"
)

// unsigned reduces an object that stands for a resource to its URN and ID, without what
// only Pulumi understands. It returns any other object as it is, as the CLI does.
func unsigned(object map[string]any) map[string]any {
	if object[sig.Key] != sig.ResourceReference {
		return object
	}
	delete(object, sig.Key)
	if object["packageVersion"] == "" {
		delete(object, "packageVersion")
	}
	return object
}

// plainOutput converts an output printed by the CLI to the form to pass on. The error
// contains none of it.
func plainOutput(raw json.RawMessage) (json.RawMessage, error) {
	if !bytes.Contains(raw, []byte(sig.Key)) {
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
