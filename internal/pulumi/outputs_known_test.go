// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"encoding/json"
	"testing"

	. "github.com/onsi/gomega"
)

func TestUnknownOutputsAreLeftOut(t *testing.T) {
	g := NewWithT(t)
	g.Expect(knownOutputs(map[string]json.RawMessage{
		"whole": json.RawMessage(`"` + unknownValue + `"`),
		"part":  json.RawMessage(`{"a":["x","` + unknownValue + `"]}`),
		"known": json.RawMessage(`{"a":["x"]}`),
	})).To(Equal(map[string]json.RawMessage{"known": json.RawMessage(`{"a":["x"]}`)}))
	g.Expect(knownOutputs(nil)).To(BeNil())
}
