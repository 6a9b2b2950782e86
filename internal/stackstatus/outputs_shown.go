// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package stackstatus

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// maxOutputDepth bounds the nesting of lists and objects. No sensible program goes
// deeper, and a few thousand levels keep the API server and the controller busy for
// minutes.
const maxOutputDepth = 100

// ShownOutputs returns the outputs as the status shows them. The author of the program
// controls them and, if runs are Jobs, the whole result: an output that the API server
// rejects would block the Stack forever. One that is null is left out: the API server
// drops it.
func ShownOutputs(result *run.Result) map[string]apiextensionsv1.JSON {
	shown := make(map[string]apiextensionsv1.JSON, len(result.Outputs))
	for name, value := range result.Outputs {
		if string(bytes.TrimSpace(value)) == "null" {
			continue
		}
		if err := checkOutput(value); err != nil {
			value, _ = json.Marshal(run.NotShownMark + ": " + err.Error() + "]") // marshalling a string cannot fail
		}
		shown[name] = apiextensionsv1.JSON{Raw: value}
	}
	return shown
}

// checkOutput returns why a value cannot be in the status of an object.
func checkOutput(value json.RawMessage) error {
	decoder := json.NewDecoder(bytes.NewReader(value))
	decoder.UseNumber()
	depth := 0
	for decoder.More() || depth > 0 {
		token, err := decoder.Token()
		if err != nil {
			return errors.New("it is no JSON")
		}
		switch token := token.(type) {
		case json.Delim:
			if token == '[' || token == '{' {
				depth++
			} else {
				depth--
			}
			if depth > maxOutputDepth {
				return fmt.Errorf("it has more than %d lists and objects within each other", maxOutputDepth)
			}
		case json.Number:
			if _, err := token.Float64(); err != nil {
				return errors.New("it has a number that is too large")
			}
		}
	}
	return nil
}
