// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package stackstatus

import (
	"encoding/json"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

func TestOutputsThatTheStatusCannotHaveAreNotShown(t *testing.T) {
	nested := func(depth int) string { return strings.Repeat(`[`, depth) + strings.Repeat(`]`, depth) }
	for name, tt := range map[string]struct{ value, want string }{
		"a text":               {`"a"`, `"a"`},
		"an empty text":        {`""`, `""`},
		"nothing":              {" null\n", ""},
		"a number":             {`12345678901234567890`, `12345678901234567890`},
		"an object":            {`{"a": [1, {"b": null}], "c": {}}`, `{"a": [1, {"b": null}], "c": {}}`},
		"a number without end": {`{"a": 1e999}`, `"[not shown: it has a number that is too large]"`},
		"deep":                 {nested(maxOutputDepth), nested(maxOutputDepth)},
		"too deep":             {nested(maxOutputDepth + 1), `"[not shown: it has more than 100 lists and objects within each other]"`},
		"far too deep":         {nested(9000), `"[not shown: it has more than 100 lists and objects within each other]"`},
		"cut":                  {`{"a": [1`, `"[not shown: it is no JSON]"`},
	} {
		t.Run(name, func(t *testing.T) {
			shown := ShownOutputs(&run.Result{Outputs: map[string]json.RawMessage{"output": json.RawMessage(tt.value)}})
			NewWithT(t).Expect(string(shown["output"].Raw)).To(Equal(tt.want))
		})
	}
}
