// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package mask

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	. "github.com/onsi/gomega"
)

// writers escape a text within another one as programs do.
func writers() map[string]func(string) string {
	inner := func(text string) string { return text[1 : len(text)-1] }
	escaped := func(text string) string {
		var buffer bytes.Buffer
		encoder := json.NewEncoder(&buffer)
		encoder.SetEscapeHTML(false)
		_ = encoder.Encode(text)
		return inner(strings.TrimSpace(buffer.String()))
	}
	ascii := func(text, format string) string {
		var out strings.Builder
		for _, r := range escaped(text) {
			if r < utf8.RuneSelf {
				out.WriteRune(r)
				continue
			}
			raw := []rune{r}
			if r > 0xffff {
				raw = []rune{0xd800 + (r-0x10000)>>10, 0xdc00 + (r-0x10000)&0x3ff}
			}
			for _, half := range raw {
				fmt.Fprintf(&out, format, half)
			}
		}
		return out.String()
	}
	return map[string]func(string) string{
		"as it is":          func(text string) string { return text },
		"JSON":              escaped,
		"JSON for HTML":     quotedInJSON,
		"JSON in ASCII":     func(text string) string { return ascii(text, `\u%04x`) },
		"JSON in capitals":  func(text string) string { return ascii(text, `\u%04X`) },
		"JSON with slashes": func(text string) string { return strings.ReplaceAll(ascii(text, `\u%04x`), "/", `\/`) },
		"Go":                func(text string) string { return inner(strconv.Quote(text)) },
		"Go in ASCII":       func(text string) string { return inner(strconv.QuoteToASCII(text)) },
		"a query":           url.QueryEscape,
		"a path":            url.PathEscape,
		"HTML":              html.EscapeString,
		"HTML of Python":    strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&#x27;").Replace,
		"SQL":               strings.NewReplacer("'", "''").Replace,
		"CSV":               strings.NewReplacer(`"`, `""`).Replace,
		"a shell":           strings.NewReplacer("'", `'\''`).Replace,
		"a shell by Python": strings.NewReplacer("'", `'"'"'`).Replace,
		"base64":            func(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) },
		"base64 of a URL":   func(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) },
	}
}

func TestAValueIsMaskedHoweverItIsWritten(t *testing.T) {
	values := map[string]string{
		"plain": "hunter2", "control": "canary\x01tail", "bell": "canary\abell", "vertical tab": "canary\vtail", "escape": "canary\x1b[31mred",
		"delete": "canary\x7fdel", "no-break": "canary-\u00a0nb", "zero width": "canary-\u200bzw", "joined": "canary-👩‍👩‍👧",
		"umlauts": "pässwörd-日本", "slashes": "a6/sl/ash", "quotes": "pw\"quo'te\\tail`tick", "HTML": "za9<b>&amp;", "percent": "za10%20%s%d",
		"plus": "a+b c+d", "lines": "first line\nsecond line\n", "Windows": "first line\r\nsecond", "looks escaped": `tail\nback\u00e4`,
		"short": "ä\"1", "JSON": `{"p":"quo\"te-tail"}`,
	}
	for name, value := range values {
		m := New([]string{value})
		for first, write := range writers() {
			text := "(input was <" + write(value) + ">)"
			NewWithT(t).Expect(m.Apply(text)).To(MatchRegexp(onlyAMask), "%s in %s: %s", name, first, text)
		}
	}
	for _, name := range []string{"quotes", "umlauts", "lines"} {
		m := New([]string{values[name]})
		for first, write := range writers() {
			for second, again := range writers() {
				text := "(input was <" + again(write(values[name])) + ">)"
				NewWithT(t).Expect(m.Apply(text)).To(MatchRegexp(onlyAMask), "%s in %s, in %s: %s", name, first, second, text)
			}
		}
	}
}

// onlyAMask allows for a line break or base64 padding at the end.
const onlyAMask = `^\(input was <\*\*\*(\n|\\+n|%0A|%3D|%253D|=)*>\)$`

func TestRareEscapesAreDecoded(t *testing.T) {
	for name, test := range map[string]struct{ secret, text string }{
		"octal":                 {"ctrl\x1bpass-pä", `ctrl\033pass-p\303\244`},
		"short octal":           {"nul\x00-tail", `nul\0-tail`},
		"octal before digits":   {"nul\x0012-tail", `nul\00012-tail`},
		"no octal":              {"nul\x0012-tail", `nul\012-tail`},
		"escape":                {"ctrl\x1bpass", `ctrl\epass`},
		"escape of bash":        {"ctrl\x1bpass", `ctrl\Epass`},
		"blanks of YAML":        {"a\u00a0b\u0085c\u2028d\u2029e", `a\_b\Nc\Ld\Pe`},
		"in braces":             {"emo😀pass", `emo\u{1f600}pass`},
		"of a shell":            {"pw &x|y$z'", `pw\ \&x\|y\$z\'`},
		"of MySQL":              {"pw\x1a'\"\x00tail", `pw\Z\'\"\0tail`},
		"a line that continues": {"one two three", "one \\\n    two\\ three"},
		"entities by name":      {"pässwörd©1", "p&auml;ssw&ouml;rd&copy;1"},
		"entities by number":    {"it's-pass", "it&#39;s&#x2d;pass"},
	} {
		NewWithT(t).Expect(New([]string{test.secret}).Apply("<"+test.text+">")).To(Equal("<***>"), name)
	}
}

func TestInvalidUTF8IsMasked(t *testing.T) {
	g := NewWithT(t)
	m := New([]string{"\xff\xfeabcdef\x80"})
	g.Expect(m.Apply(`"\xff\xfeabcdef\x80"`)).To(Equal(`"***"`))
	g.Expect(New([]string{"zä8-pässwort"}).Apply(`'z\xe48-p\xe4sswort'`)).To(Equal("'***'"), "as Python writes it")
}

func TestOnlyWhatIsEscapedIsMasked(t *testing.T) {
	g := NewWithT(t)
	m := New([]string{`pw"1234`, "pw"})
	g.Expect(m.Apply(`C:\new\u00zz "pw\"1234" 100%zz\`)).To(Equal(`C:\new\u00zz "***" 100%zz\`))
	g.Expect(m.Apply(`\"pw\" \\\"pw\\\"`)).To(Equal(`\"***\" \\\"***\\\"`))
}

// FuzzViews: whatever surrounds a value, nothing is left that decodes to it.
func FuzzViews(f *testing.F) {
	f.Add("hunter2", "a\\", "\\")
	f.Add("pä\"ss\x7f", "%", "%2")
	f.Fuzz(func(t *testing.T, value, before, after string) {
		trimmed := strings.TrimSpace(value)
		if len(trimmed) < shortMask || !utf8.ValidString(trimmed) || strings.Contains(trimmed, "*") {
			return
		}
		m := New([]string{value})
		for name, write := range writers() {
			// The text before may itself end in an escape.
			text := write(before + "|" + trimmed + "|" + after)
			if strings.Contains(m.Apply(text), "|"+write(trimmed)+"|") {
				t.Errorf("%q is in %q, as %s", trimmed, m.Apply(text), name)
			}
		}
	})
}

// A bundle of ten thousand lines, and each kind of secret.
func BenchmarkMask(b *testing.B) {
	lines := make([]string, 10_000)
	for n := range lines {
		lines[n] = base64.StdEncoding.EncodeToString([]byte(fmt.Sprintf("line %d of the bundle, which is long", n)))
	}
	values := []string{strings.Join(lines, "\n"), "hunter2"}
	text := strings.Repeat(`{"a":"b\n\u00e4","c":"d%20e"} `, 500)
	b.Run("making", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			Filtered([]string{"hunter2"}, values)
		}
	})
	b.Run("applying", func(b *testing.B) {
		m := New(values)
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			m.Apply(text)
		}
	})
}
