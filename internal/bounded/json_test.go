// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package bounded

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

var roomy = Size{Data: 1 << 20, Text: 1 << 20, Members: 1000}

// zipped gzips a text, as anyone could.
func zipped(text string) []byte {
	var out bytes.Buffer
	zip := gzip.NewWriter(&out)
	_, _ = zip.Write([]byte(text))
	_ = zip.Close()
	return out.Bytes()
}

func TestUnpackRestoresAValue(t *testing.T) {
	g := NewWithT(t)
	value := map[string]any{"a": []any{"b", `c"d\`, map[string]any{}}, "e": 1.0}
	data, size, err := Pack(value)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(size).To(Equal(Size{Data: len(data), Text: len(`{"a":["b","c\"d\\",{}],"e":1}`), Members: 6}))
	again, _, err := Pack(value)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(again).To(Equal(data))
	var read map[string]any
	g.Expect(Unpack(data, size, &read)).To(Succeed(), "it fits exactly")
	g.Expect(read).To(Equal(value))
}

func TestUnpackRefuses(t *testing.T) {
	for name, tt := range map[string]struct {
		data    []byte
		most    Size
		wantErr string
	}{
		"members of a list":       {zipped("[" + strings.Repeat("{},", 600) + "{}]"), roomy, "more than 1000 members"},
		"members of an object":    {zipped("{" + strings.Repeat(`"a":1,`, 1000) + `"a":1}`), roomy, "more than 1000 members"},
		"lists within each other": {zipped(strings.Repeat("[", 1001) + strings.Repeat("]", 1001)), roomy, "more than 1000 members"},
		"after a quote in a text": {zipped(`["\\\"",` + strings.Repeat("1,", 1000) + "1]"), roomy, "more than 1000 members"},
		"invalid JSON":            {zipped(strings.Repeat(",", 1001)), roomy, "more than 1000 members"},
		"the text":                {zipped(`"` + strings.Repeat("a", 1<<20) + `"`), roomy, "more than 1048576 bytes when it is unpacked"},
		"the data":                {make([]byte, 11), Size{Data: 10}, "more than 10 bytes"},
		"not packed":              {[]byte("{}"), roomy, "unpacking it"},
		"truncated data":          {zipped(`["hush"]`)[:20], roomy, "unpacking it"},
		"JSON of another type":    {zipped(`"hush"`), roomy, "not the expected JSON"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			var read []any
			err := Unpack(tt.data, tt.most, &read)
			g.Expect(err).To(MatchError(ContainSubstring(tt.wantErr)))
			g.Expect(err.Error()).NotTo(ContainSubstring("hush"))
			g.Expect(read).To(BeNil())
		})
	}
	g := NewWithT(t)
	var read []string
	g.Expect(Unpack(zipped(`["`+strings.Repeat(`[{,\"`, 1000)+`"]`), roomy, &read)).To(Succeed(), "a text has no members")
}

// FuzzUnpack: whatever is unpacked stays within the bound of members.
func FuzzUnpack(f *testing.F) {
	for _, seed := range []string{`{"a":[1,{"b":"\\"}]}`, `[[],{},"\"[,"]`, `"\u0022,,,"`, `[1,]`, `{`, ``} {
		f.Add(seed, 4)
	}
	f.Fuzz(func(t *testing.T, text string, members int) {
		most := Size{Data: 1 << 20, Text: 1 << 16, Members: members}
		var read any
		if err := Unpack(zipped(text), most, &read); err != nil {
			return
		}
		if got := membersOf(read); got > members {
			t.Errorf("%q has %d members, of %d at most", text, got, members)
		}
		data, size, err := Pack(json.RawMessage(text))
		if err != nil {
			t.Fatal(err)
		}
		if size.Text = max(size.Text, len(text)); Unpack(data, size, &read) != nil {
			t.Errorf("%q does not fit into its own size, %+v", text, size)
		}
	})
}

// membersOf counts the members of a decoded value, in which an object has each name only
// once.
func membersOf(value any) int {
	count := 0
	switch value := value.(type) {
	case []any:
		for _, one := range value {
			count += 1 + membersOf(one)
		}
	case map[string]any:
		for _, one := range value {
			count += 1 + membersOf(one)
		}
	}
	return count
}
