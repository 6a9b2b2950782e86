// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

func TestWhatAnEarlierVersionWroteIsRead(t *testing.T) {
	g := NewWithT(t)
	var read Plan
	g.Expect(json.Unmarshal([]byte(`{"steps":[{"op":"update","urn":"urn:a","type":"t","paths":["tags","size"]},{"op":"delete","urn":"urn:b","type":"t"}],"leftOut":2}`), &read)).To(Succeed())
	g.Expect(read).To(Equal(Plan{
		Steps: []Step{
			{Op: "update", URN: "urn:a", Type: "t", Properties: []Property{{Path: "tags"}, {Path: "size"}}},
			{Op: "delete", URN: "urn:b", Type: "t"},
		},
		More: Counts{Other: 2},
	}))
	g.Expect(Terminal(read, 0, nil)).To(Equal(" ~ t urn:a (update)\n     ~ tags\n     ~ size\n - t urn:b (delete)\n... 2 more: 2 other\n"))
}

func TestNoMoreThanTheBoundsIsRead(t *testing.T) {
	g := NewWithT(t)
	list := func(count int) string { return "[" + strings.Repeat("{},", count) + "{}]" }
	var read Plan
	g.Expect(json.Unmarshal([]byte(`{"steps":[{"properties":`+list(MaxProperties)+`,"paths":null},`+list(MaxSteps)[1:]+`,"outputs":`+list(MaxOutputs)+`,"policies":`+list(MaxPolicies)+`}`), &read)).To(Succeed())
	g.Expect(read.Steps).To(HaveLen(MaxSteps))
	g.Expect(read.Steps[0].Properties).To(HaveLen(MaxProperties))
	g.Expect(read.Outputs).To(HaveLen(MaxOutputs))
	g.Expect(read.Policies).To(HaveLen(MaxPolicies))
	g.Expect(json.Unmarshal([]byte(`{"steps":["no step"]}`), &read)).NotTo(Succeed())
	g.Expect(json.Unmarshal([]byte(`{"steps":{"a":1},"outputs":null}`), &read)).To(Succeed(), "it is no list")
}

// FuzzReading: a plan from elsewhere is within the bounds, has one digest, and can be shown.
func FuzzReading(f *testing.F) {
	text, err := json.Marshal(example())
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{string(text), `{"steps":[{"op":"update","paths":["a"]}],"leftOut":-1}`, `{"steps":[ ]}`, `{"steps":[null,"a"]}`,
		`{"outputs":[{"name":"\u001b[31m","old":{"a":"x\ny"},"new":{"a":[1e400]}}]}`, `{"steps":[{"properties":[{"kind":"update","old":"a\nb\nc","new":"a\nd\nc"}]}]}`} {
		f.Add([]byte(seed), 60)
	}
	f.Fuzz(func(t *testing.T, text []byte, width int) {
		var read Plan
		if json.Unmarshal(text, &read) != nil {
			return
		}
		p := read.Bounded()
		if !reflect.DeepEqual(p.Bounded(), p) {
			t.Error("it is not within the bounds")
		}
		if p.Within(Bounds()).Digest() != p.Digest() || p.Within(Limits{Value: 8}).Digest() != p.Digest() {
			t.Error("the digest changes with what is left out")
		}
		for _, shown := range []string{Terminal(p, width, nil), Markdown(p, 4096)} {
			if strings.ContainsAny(shown, "\x1b\u202e\r") {
				t.Errorf("it shows %q", shown)
			}
		}
		if len(Markdown(p, 4096)) > 4096 {
			t.Error("the Markdown is too long")
		}
	})
}

// FuzzMembersOf: the members of a list are those that the decoder finds.
func FuzzMembersOf(f *testing.F) {
	for _, seed := range []string{`[]`, `[ ]`, `[1]`, `[1, "a,]\\\"", [2,{"b":[]}] ,null]`, `["\\"]`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var want []json.RawMessage
		if json.Unmarshal(text, &want) != nil || len(text) == 0 || text[0] != '[' {
			return
		}
		got, err := first[json.RawMessage](text, len(want)+1)
		if err != nil || len(got) != len(want) || (len(want) > 0 && !reflect.DeepEqual(got, want)) {
			t.Errorf("%q has %q, %v", text, got, err)
		}
	})
}
