// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package grammar

import (
	"encoding/json"
	"testing"

	. "github.com/onsi/gomega"
)

func TestHoldsFile(t *testing.T) {
	escaped := `\u0034` + SigKey[1:]
	for name, test := range map[string]struct {
		value any
		want  bool
	}{
		"nothing":                       {nil, false},
		"a number":                      {3.0, false},
		"a text":                        {"text", false},
		"a text that is JSON":           {`{"path": "/etc/passwd", "n": [1, "a\\b"]}`, false},
		"what only looks like JSON":     {`{"\u0034`, false},
		"the key":                       {map[string]any{SigKey: "x"}, true},
		"the key in a list":             {[]any{map[string]any{"a": map[string]any{SigKey: "x"}}}, true},
		"JSON that has it":              {`{"a": [{"` + SigKey + `": "x"}]}`, true},
		"JSON that has it, escaped":     {` {"` + escaped + `": "x"}`, true},
		"beside a number out of bounds": {`{"n": 1e999, "` + escaped + `": "x"}`, true},
		"JSON in a list":                {[]any{`{"` + escaped + `": "x"}`}, true},
		"JSON in JSON":                  {`["{\"\\u0034` + SigKey[1:] + `\": 1}"]`, true},
		"raw JSON":                      {json.RawMessage(`{"` + escaped + `": "x"}`), true},
		"a raw text that is JSON":       {json.RawMessage(`"{\"` + SigKey + `\": 1}"`), true},
		"raw JSON without it":           {json.RawMessage(`{"a": "b\n"}`), false},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(HoldsFile(test.value)).To(Equal(test.want))
		})
	}
}
