// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"encoding/json"
	"strings"
)

// textsInJSON lists the texts and numbers in a value that is a list or an object in JSON, such
// as a kubeconfig or the key of an account: Pulumi hands such a value on as what it
// describes, and a provider that complains of it prints its parts. Short ones, such
// as the name of a region, are no secrets by themselves, and would be masked
// everywhere.
func textsInJSON(value string) []string {
	trimmed := strings.TrimSpace(value)
	if !strings.HasPrefix(trimmed, "{") && !strings.HasPrefix(trimmed, "[") {
		return nil
	}
	var parsed any
	decoder := json.NewDecoder(strings.NewReader(trimmed))
	decoder.UseNumber()
	if !json.Valid([]byte(trimmed)) || decoder.Decode(&parsed) != nil {
		return nil
	}
	var texts []string
	var collect func(part any)
	collect = func(part any) {
		switch part := part.(type) {
		case json.Number:
			if len(part) >= maskedLine {
				texts = append(texts, part.String())
			}
		case string:
			if len(strings.TrimSpace(part)) >= maskedLine {
				texts = append(texts, part)
			}
		case []any:
			for _, item := range part {
				collect(item)
			}
		case map[string]any:
			for _, item := range part {
				collect(item)
			}
		}
	}
	collect(parsed)
	return texts
}
