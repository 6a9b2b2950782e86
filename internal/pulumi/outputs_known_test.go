// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"encoding/json"
	"testing"

	. "github.com/onsi/gomega"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/plugin"
)

func TestUnknownOutputsAreLeftOut(t *testing.T) {
	g := NewWithT(t)
	g.Expect(knownOutputs(map[string]json.RawMessage{
		"whole": json.RawMessage(`"` + plugin.UnknownStringValue + `"`),
		"part":  json.RawMessage(`{"a":["x","` + plugin.UnknownStringValue + `"]}`),
		"known": json.RawMessage(`{"a":["x"]}`),
	})).To(Equal(map[string]json.RawMessage{"known": json.RawMessage(`{"a":["x"]}`)}))
	g.Expect(knownOutputs(nil)).To(BeNil())
}
