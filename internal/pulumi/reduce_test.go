// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/mask"
)

// reduce reads the text in pieces.
func reduce(most reduction, text string, size int) *reducer {
	r := newReducer(most)
	for len(text) > 0 {
		n := min(max(size, 1), len(text))
		_, _ = r.Write([]byte(text[:n]))
		text = text[n:]
	}
	return r
}

func TestWhatIsTooBigIsCut(t *testing.T) {
	most := reduction{at: 2, property: 20, properties: 400, around: 2000, total: 1 << 20}
	big, secret := strings.Repeat("x", 30), `{"4dabf18193072939515e22adb298388d":"1b47061264138c4ac30d75fd1eb44270"}`
	mark := func(text string, secrets int) string {
		return string(cutProperty{len(text), secrets, fmt.Sprintf("%x", sha256.Sum256([]byte(text)))}.mark())
	}
	for name, test := range map[string]struct{ text, want string }{
		"nothing of what is small":         {`{"o":{"a":"x","b":[1,{"c":null}]},"n":1.5e3}`, `{"o":{"a":"x","b":[1,{"c":null}]},"n":1.5e3}`},
		"a text":                           {`{"o":{"a":"` + big + `","b":1}}`, `{"o":{"a":` + mark(`"`+big+`"`, 0) + `,"b":1}}`},
		"an object":                        {`{"o":{"a":{"b":{"c":"` + big + `,\"}"}},"d":2}}`, `{"o":{"a":` + mark(`{"b":{"c":"`+big+`,\"}"}}`, 0) + `,"d":2}}`},
		"an item of a list":                {`{"o":["` + big + `",["a"],1]}`, `{"o":[` + mark(`"`+big+`"`, 0) + `,["a"],1]}`},
		"with the number of secrets in it": {`{"o":{"a":[` + secret + "," + secret + `],"b":1}}`, `{"o":{"a":` + mark("["+secret+","+secret+"]", 2) + `,"b":1}}`},
		"between blanks":                   {`{ "o" : { "a" : "` + big + `" , "b" : 1 } }`, `{ "o" : { "a" :` + mark(` "`+big+`" `, 0) + `, "b" : 1 } }`},
		"the last properties of too many": {
			`{"o":{` + strings.Repeat(`"a":1,`, 200) + `"z":1},"n":1}`, `{"o":{` + strings.TrimSuffix(strings.Repeat(`"a":1,`, 134), ",") + `},"n":1}`},
		"the last members around them": {
			`{` + strings.Repeat(`"o":{"a":1},`, 500) + `"z":1}`, `{` + strings.TrimSuffix(strings.Repeat(`"o":{"a":1},`, 167), ",") + `}`},
		"quotes in a text": {`{"m":"a\"{,:\\","n":{"a":"\\\""}}`, `{"m":"a\"{,:\\","n":{"a":"\\\""}}`},
	} {
		for _, size := range []int{1, 7, 1 << 20} {
			r := reduce(most, test.text, size)
			NewWithT(t).Expect(r.over).To(BeFalse(), name)
			NewWithT(t).Expect(string(r.out)).To(Equal(test.want), name)
		}
	}
}

// Each of them is within the bound of a property.
func TestSmallPropertiesAreKeptAfterBigOnes(t *testing.T) {
	big, secret := strings.Repeat("x", 500<<10), `{"4dabf18193072939515e22adb298388d":"1b47061264138c4ac30d75fd1eb44270"}`
	text := fmt.Sprintf(`{"resOutputsEvent":{"metadata":{"new":{"outputs":{"a":%[1]q,"b":%[1]q,"c":%[1]q,"d":%[1]q,"z":"run-0","zs":%[2]s}}}}}`, big, secret)
	for _, size := range []int{7, 1 << 20} {
		g := NewWithT(t)
		var event struct {
			ResOutputsEvent struct {
				Metadata struct {
					New struct{ Outputs map[string]json.RawMessage }
				}
			}
		}
		g.Expect(json.Unmarshal(reduce(ofEvents(), text, size).out, &event)).To(Succeed())
		outputs := event.ResOutputsEvent.Metadata.New.Outputs
		g.Expect(outputs).To(HaveLen(6))
		g.Expect(string(outputs["z"])).To(Equal(`"run-0"`))
		g.Expect(string(outputs["zs"])).To(Equal(secret))
		_, isCut := cutOf(outputs["d"])
		g.Expect(isCut).To(BeTrue())
	}
}

func TestTheEndOfALongTextIsLeftOut(t *testing.T) {
	most, long := ofEvents(), strings.Repeat("y", maxText-3)
	for text, want := range map[string]string{
		`{"m":"` + long + `yyyyyyy","n":1}`:              `{"m":"` + long + `yyy","n":1}`,
		`{"m":"` + long + `\u00e9\n\u00e9\"","n":1}`:     `{"m":"` + long + `\u00e9","n":1}`,
		`{"m":"` + long + `yy\\\\\u00e9","n":"a"}`:       `{"m":"` + long + `yy\\","n":"a"}`,
		`{"m":"` + long + `yyyyy\"` + long + `","n":{}}`: `{"m":"` + long + `yyy","n":{}}`,
	} {
		for _, size := range []int{1, 7, 1 << 20} {
			NewWithT(t).Expect(string(reduce(most, text, size).out)).To(Equal(want))
		}
	}
}

func TestOnlyWantedPropertiesAreKept(t *testing.T) {
	g := NewWithT(t)
	most := reduction{at: 1, property: 20, properties: 1000, total: 1000, wanted: func(name string) bool { return name == `a"é` }}
	var got map[string]json.RawMessage
	g.Expect(json.Unmarshal(reduce(most, `{"b": 1, "a\"\u00e9" : 2}`, 3).out, &got)).To(Succeed())
	g.Expect(string(got[`a"é`])).To(Equal("2"))
	_, isCut := cutOf(got["b"])
	g.Expect(isCut).To(BeTrue())
}

func TestATextThatCannotBeReducedIsRefused(t *testing.T) {
	g := NewWithT(t)
	most := reduction{at: 2, property: 1000, properties: 1000, around: 1000, total: 1000}
	g.Expect(reduce(most, `{"`+strings.Repeat("a", 2000)+`":1}`, 100).over).To(BeTrue())
	most.total = maxText * 2
	g.Expect(reduce(most, `{"o":{"`+strings.Repeat("a", maxText+1)+`":1}}`, 100).over).To(BeTrue(), "two names could become one")
}

// A message that is cut while it is read is masked like one that is cut later.
func TestASecretInALongMessageIsMasked(t *testing.T) {
	const secret = "hunter2-hunter2-hunter2"
	for _, filler := range []string{"x", `\u00e9`, "é", `\ud83d\ude00`} {
		for shift := range 30 {
			g := NewWithT(t)
			e := &events{mask: mask.New([]string{secret})}
			message := strings.Repeat("y", shift) + strings.Repeat(filler, maxText/len(filler)-4) + secret + strings.Repeat("z", maxWhole)
			readAll(e, `{"diagnosticEvent":{"severity":"error","message":"`+message+`"}}`)
			g.Expect(e.missed).To(BeFalse())
			g.Expect(e.errors).To(HaveLen(1))
			g.Expect(e.errors[0].line.text.isCut).To(BeTrue(), filler)
			g.Expect(e.errors[0].text).NotTo(ContainSubstring("hunt"))
		}
	}
}

func TestABigResourceIsListedAndHidesWhatItHas(t *testing.T) {
	secret := `{"4dabf18193072939515e22adb298388d":"1b47061264138c4ac30d75fd1eb44270","ciphertext":"[secret]"}`
	big := `"` + strings.Repeat("x", 1<<20) + `"`
	for name, test := range map[string]struct {
		inputs, outputs string
		wantSecret      bool
	}{
		"whose big property is shown":                {`{"v":` + big + `}`, `{"v":` + big + `}`, false},
		"that was given a secret in a big property":  {`{"v":[` + secret + `,` + big + `]}`, `{"v":[` + secret + `,` + big + `]}`, true},
		"that has generated a secret in such a one":  {`{}`, `{"v":[` + secret + `,` + big + `]}`, true},
		"whose ID is a number that the mark has too": {`{}`, `{"v":[` + secret + `,` + big + `],"w":1}`, true},
	} {
		g := NewWithT(t)
		e := &events{mask: mask.New(nil)}
		readAll(e, fmt.Sprintf(`{"resOutputsEvent":{"metadata":{"op":"create","urn":%q,"type":"lab:index:Thing","new":{"custom":true,"id":"10","inputs":%s,"outputs":%s}}}}`,
			thingURN, test.inputs, test.outputs))
		g.Expect(e.changes().Created).To(Equal(1), name)
		g.Expect(e.resources.known).To(HaveKeyWithValue(thingURN, HaveField("ID", "10")), name)
		g.Expect(e.resources.ids.mayBeSecret(thingURN, false)).To(Equal(test.wantSecret), name)
	}
}

func FuzzReduce(f *testing.F) {
	f.Add(`{"a":{"b":{"c":"\u00e9x\"","d":[1,2,{}]}},"e":[true]}`, 3, 4)
	f.Add(`[[["aaaaaaaaaaaaaa"],2],{"k":[]}]`, 1, 2)
	f.Fuzz(func(t *testing.T, text string, size, bound int) {
		bound = min(max(bound, 1), 1000)
		whole := reduce(reduction{at: 2, property: len(text), properties: len(text), around: len(text), total: len(text)}, text, size)
		if !whole.over && json.Valid([]byte(text)) && string(whole.out) != text {
			t.Errorf("%q became %q", text, whole.out)
		}
		cut := reduce(reduction{at: 2, property: bound, properties: bound, around: bound, total: 100 * bound}, text, size)
		if len(cut.out) > 100*bound+1000 {
			t.Errorf("%d bytes", len(cut.out))
		}
		if !cut.over && json.Valid([]byte(text)) && !json.Valid(cut.out) {
			t.Errorf("%q became %q", text, cut.out)
		}
	})
}
