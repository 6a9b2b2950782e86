// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// maxOutputDepth bounds lists and objects within each other. Deeper than this no
// program means what it says, and a few thousand of them keep the API server and the
// controller busy for minutes.
const maxOutputDepth = 100

// shownOutputs are the outputs as they are in the status. Whoever writes programs
// chooses them, and where runs are Jobs any result: what the API server would not take
// would hold the Stack for ever.
func shownOutputs(result *run.Result) map[string]apiextensionsv1.JSON {
	shown := make(map[string]apiextensionsv1.JSON, len(result.Outputs))
	for name, value := range result.Outputs {
		if err := checkOutput(value); err != nil {
			value, _ = json.Marshal("[not shown: " + err.Error() + "]") // a text has no error
		}
		shown[name] = apiextensionsv1.JSON{Raw: value}
	}
	return shown
}

// checkOutput says why a value cannot be in the status of an object.
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
