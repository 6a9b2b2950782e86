// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"runtime"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/mask"
)

func TestLinesOfAnyPieces(t *testing.T) {
	g := NewWithT(t)
	var l lines
	var got []string
	for _, piece := range []string{"a\nb", "c\n", "", "\nd\nunfinished"} {
		l.feed([]byte(piece), func(line []byte) { got = append(got, string(line)) }, func() { t.Error("too long") })
	}
	g.Expect(got).To(Equal([]string{"a", "bc", "", "d"}))
}

// feedBig feeds text repeatedly.
func feedBig(l *lines, text string, times int, each func([]byte), tooLong func()) {
	piece := []byte(text)
	for range times {
		l.feed(piece, each, tooLong)
	}
}

// A line of 100 MiB, of an event that has the outputs of the stack before and after.
func TestALineOfAnyLengthIsReadInLittleMemory(t *testing.T) {
	g := NewWithT(t)
	e := &events{mask: mask.New(nil)}
	var l lines
	missed := false
	each, tooLong := func(line []byte) { e.read(line) }, func() { missed = true }
	state := func() {
		feedBig(&l, `{"custom":false,"outputs":{"big":"`, 1, each, tooLong)
		feedBig(&l, strings.Repeat("x", 64<<10), 800, each, tooLong)
		feedBig(&l, `","ok":"second","token":{"4dabf18193072939515e22adb298388d":"1b47061264138c4ac30d75fd1eb44270","ciphertext":"\"[secret]\""}}}`, 1, each, tooLong)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	feedBig(&l, `{"resOutputsEvent":{"metadata":{"op":"update","urn":"`+stackURN+`","type":"`+stackType+`","old":`, 1, each, tooLong)
	state()
	feedBig(&l, `,"new":`, 1, each, tooLong)
	state()
	feedBig(&l, `,"logical":true}}}`+"\n", 1, each, tooLong)
	runtime.ReadMemStats(&after)

	g.Expect(missed).To(BeFalse())
	shown := showOutputs(e.outputs, mask.New(nil), nil)
	g.Expect(shown).To(HaveLen(3))
	g.Expect(shown["ok"]).To(MatchJSON(`"second"`))
	g.Expect(shown["token"]).To(MatchJSON(`"[secret]"`))
	g.Expect(shown["big"]).To(MatchJSON(`"[too big to show: 52428802 bytes]"`))
	g.Expect(after.TotalAlloc-before.TotalAlloc).To(BeNumerically("<", 16<<20), "in all")
	g.Expect(e.changes().Unknown).To(BeFalse())
}

func TestALineHasABound(t *testing.T) {
	g := NewWithT(t)
	l := lines{size: maxLine}
	var got []string
	tooLong := 0
	each := func(line []byte) { got = append(got, string(line)) }
	l.feed([]byte("x"), each, func() { tooLong++ })
	l.feed([]byte("y\nnext\n"), each, func() { tooLong++ })
	g.Expect(tooLong).To(Equal(1))
	g.Expect(got).To(Equal([]string{"next"}))
}
