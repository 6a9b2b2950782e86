// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

//go:build !race

package mask

import (
	"fmt"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

// The race detector would make these tests ten times as slow, two minutes on a busy machine, and some of them measure time. They start
// no goroutine: make test-unit runs them without it.

// Texts designed to take long.
func TestAnyTextIsReadInTime(t *testing.T) {
	for name, part := range map[string]string{
		"pairs": "a=", "pairs of a secret": "pw=", "open quotes": `a="`, "escaped quotes": `a=\"`, "more of them": `a="\"`, "heredocs": "a=<<A\n", "blocks": "a: |\n ",
		"two in a line": "a=b c=d ", "lines": "a=b\n", "URLs": "a://", "logins": "a:b@c ", "colons": ":", "elements": "<a>", "a line": "pw=a,", "names": "a b ", "words": "a",
		"numbers": "1:", "forms": "a=%20&", "objects": "{a: ", "lists": "- ", "entities": "a=&amp;", "backslashes": `a=\`,
	} {
		started := time.Now()
		New([]string{strings.Repeat(part, maxStructure/8/len(part))})
		took := time.Since(started)
		t.Logf("%s: %s", name, took)
		NewWithT(t).Expect(took).To(BeNumerically("<", 30*time.Second), name)
	}
}

// Twelve thousand members that contain four config secrets.
func TestALongValueIsReadInTime(t *testing.T) {
	g := NewWithT(t)
	var value strings.Builder
	for n := range 6000 {
		value.WriteString("- name: abcdefgh\n  password: a/b c/d e/f " + strings.Repeat("x", n%7) + "\n")
	}
	started := time.Now()
	m := Filtered([]string{"a/b", "c/d", "e/f", "name"}, []string{value.String()[:240<<10]})
	t.Logf("made in %s", time.Since(started))
	patterns := 0
	for _, all := range []patternsOf{m.long.byStart, m.middle.byStart, m.words.byStart, m.short.byStart} {
		for _, some := range all {
			patterns += len(some)
		}
	}
	g.Expect(patterns).To(BeNumerically("<", 500), "each part is there once")
	g.Expect(m.Apply("password [secret] [secret] [secret] xxx.")).To(Equal("password ***."))
}

// A value that matches at every position of a text is compared only in pieces.
func TestALongValueIsMaskedAsAWhole(t *testing.T) {
	for _, length := range []int{maxPattern - 1, maxPattern, maxPattern + 1, maxPattern + 5, 2 * maxPattern, 5*maxPattern + 3} {
		secret := strings.Repeat("abcdefg\"", length/8) + strings.Repeat("z", length%8)
		m := New([]string{secret})
		for name, write := range writers() {
			NewWithT(t).Expect(m.Apply("is <"+write(secret)+">")).To(MatchRegexp(`^is <\*\*\*=*>$`), "%s of %d", name, length)
		}
		NewWithT(t).Expect(m.ApplyCut("is <" + secret[:length-9])).To(Equal("is <***"))
	}
	m := New([]string{strings.Repeat("a", 300_000)})
	started := time.Now()
	NewWithT(t).Expect(m.Apply(strings.Repeat("a", 1<<20))).To(Equal("***"))
	t.Logf("masked in %s", time.Since(started))
}

// Long secrets are looked for in pieces.
func TestTheRestOfALongSecretIsMaskedWhereATextBegins(t *testing.T) {
	var secret strings.Builder
	for n := range 3000 {
		fmt.Fprintf(&secret, "%x\n", n*n*7919)
	}
	m := New([]string{secret.String()})
	for from := 1; from < secret.Len()-shortMask; from += 397 {
		NewWithT(t).Expect(m.ApplyRest(secret.String()[from:]+" it was")).To(MatchRegexp(`^[0-9a-f\n]{0,3}\*\*\*\n? it was$`), "%d of %d", from, secret.Len())
	}
}
