// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"encoding/json"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

func TestLimits(t *testing.T) {
	g := NewWithT(t)
	p := example().Within(Limits{Steps: 2, Properties: 1, Outputs: 0, Value: 100})
	g.Expect(p.Steps).To(HaveLen(2))
	g.Expect(p.Steps[0].Properties).To(HaveLen(1))
	g.Expect(p.Steps[0].MoreProperties).To(Equal(2))
	g.Expect(p.More).To(Equal(Counts{Import: 1}))
	g.Expect(p.MoreOutputs).To(Equal(1))
	g.Expect(p.Counts()).To(Equal(example().Counts()))
	g.Expect(p.Digest()).To(Equal(example().Digest()))
	g.Expect(p.Within(Limits{Value: 100}).Destructive()).To(BeTrue(), "what is left out counts")
}

func TestLongValuesAreShortened(t *testing.T) {
	long := strings.Repeat("ä", 1000)
	for name, test := range map[string]struct {
		value string
		most  int
		want  string
	}{
		"short":           {`{"a":1}`, 7, `{"a":1}`},
		"a text":          {`"` + long + `"`, 20, `"äää..."`},
		"a list":          {`["one","two","three","four"]`, 24, `["one","two","2 more"]`},
		"an object":       {`{"a":"one","b":"two","c":"three"}`, 26, `{"...":"2 more","a":"one"}`},
		"a big number":    {strings.Repeat("9", 100), 20, `"..."`},
		"nothing fits":    {`{"a":"` + long + `"}`, 3, `"..."`},
		"what is no JSON": {strings.Repeat("{", 100), 20, `"..."`},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(string(shortened(json.RawMessage(test.value), test.most))).To(Equal(test.want))
		})
	}
}
