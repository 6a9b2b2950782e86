// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/mask"
)

// A mask does not recognize half a secret.
func TestASecretSplitByTheCutIsMasked(t *testing.T) {
	one, two := strings.Repeat("A1b2C3d4", 1980), strings.Repeat("zlong-canary-", 200)
	for name, test := range map[string]struct{ text, want string }{
		"after another one":    {"is " + one + " " + two + " end", "is *** ***..."},
		"in JSON in JSON":      {strings.ReplaceAll(fmt.Sprintf("%q", fmt.Sprintf("%q", one+"\n\"ü"+two)), "ü", `\\u00fc`), `"\"***...`},
		"a few characters":     {one + strings.Repeat("x", maxRawText-len(one)-5) + two, "***" + strings.Repeat("x", maxRawText-len(one)-5) + "***..."},
		"in base64":            {strings.Repeat("x ", 7000) + "is " + base64.StdEncoding.EncodeToString([]byte(two)), strings.Repeat("x ", 7000) + "is ***..."},
		"where nothing is cut": {"is " + two + " zlong-canary", "is *** zlong-canary"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			m := mask.New(nil)
			kept := newRawText(test.text)
			g.Expect(len(kept.raw)).To(BeNumerically("<=", maxRawText))
			m.AddSecrets([]string{one, two, one + "\n\"ü" + two})
			g.Expect(kept.masked(m)).To(Equal(test.want))
		})
	}
}

func TestATextIsNotCutInTheMidstOfACharacter(t *testing.T) {
	for name, test := range map[string]struct{ end, kept string }{
		"of several bytes":       {"ab日本", "ab"},
		"of an escape":           {`ab\u00e4x`, "ab"},
		"of one that is escaped": {`a\\\\u00e4x`, "a"},
		"in a URL":               {"abc%C3%A4", "abc"},
	} {
		NewWithT(t).Expect(newRawText(strings.Repeat("x", maxRawText-4)+test.end).raw).
			To(Equal(strings.Repeat("x", maxRawText-4)+test.kept), name)
	}
}

func TestTextsTogetherAreBounded(t *testing.T) {
	g := NewWithT(t)
	both := newRawText("a").and(newRawText("b"))
	g.Expect(both).To(Equal(rawText{raw: "a\nb"}))
	for range 20 {
		both = both.and(newRawText(strings.Repeat("x", 1000)))
	}
	g.Expect(len(both.raw)).To(Equal(maxRawText))
	g.Expect(both.isCut).To(BeTrue())
}

// Tools that print UTF-16, as some on Windows do, put a zero byte after each letter.
func TestASecretInUTF16IsMasked(t *testing.T) {
	text := "key " + strings.Join(strings.Split("hunter22-canary", ""), "\x00") + "\x00"
	NewWithT(t).Expect(newRawText(text).masked(mask.New([]string{"hunter22-canary"}))).To(Equal("key ***"))
}

// The lines of a printed error are reported as one text.
func TestASecretOverTheLinesOfAnErrorIsMasked(t *testing.T) {
	g := NewWithT(t)
	e := &events{mask: mask.New(nil)}
	readAll(e, diagLine("info#err", "", "error: bad key\n  zl1-b3\n  zl2-b3"), diagLine("info#err", "", "  zl3-b3"))
	e.mask.AddSecrets([]string{"zl1-b3\nzl2-b3\nzl3-b3\n"})
	e.remask()
	g.Expect(e.errors).To(HaveLen(1))
	g.Expect(e.errors[0].text).To(Equal("error: bad key\n  ***"))
}
