// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package mask

import (
	"bytes"
	"encoding/base64"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"html"
	"math/rand/v2"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"gopkg.in/yaml.v3"
)

// encoders escape a whole text as real programs do.
func encoders() map[string]func(string) string {
	lines := func(text, end string) string { return strings.Join(chunks(text, 76), end) }
	return map[string]func(string) string{
		"encoding/json": func(text string) string { raw, _ := json.Marshal(text); return string(raw) },
		"encoding/csv": func(text string) string {
			var out bytes.Buffer
			w := csv.NewWriter(&out)
			_ = w.Write([]string{text, text})
			w.Flush()
			return out.String()
		},
		"encoding/xml": func(text string) string {
			var out bytes.Buffer
			_ = xml.EscapeText(&out, []byte(text))
			return out.String()
		},
		"yaml":           func(text string) string { raw, _ := yaml.Marshal(map[string]string{"": text}); return string(raw)[3:] },
		"yaml in a list": func(text string) string { raw, _ := yaml.Marshal([][]string{{text}}); return string(raw) },
		"strconv":        strconv.Quote,
		"strconv, ASCII": strconv.QuoteToASCII,
		"html":           html.EscapeString,
		"a query":        url.QueryEscape,
		"a path":         url.PathEscape,
		"base64":         func(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) },
		"base64, raw":    func(text string) string { return base64.RawStdEncoding.EncodeToString([]byte(text)) },
		"base64 of URLs": func(text string) string { return base64.URLEncoding.EncodeToString([]byte(text)) },
		"base64 of MIME": func(text string) string { return lines(base64.StdEncoding.EncodeToString([]byte(text)), "\r\n") },
		"a header":       func(text string) string { return base64.StdEncoding.EncodeToString([]byte("_:" + text)) },
		"base64 of JSON": func(text string) string {
			raw, _ := json.Marshal([]string{text})
			return base64.StdEncoding.EncodeToString(raw)
		},
		"a shell":        func(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" },
		"a shell, shlex": func(text string) string { return "'" + strings.ReplaceAll(text, "'", `'"'"'`) + "'" },
		"a shell, by \\": func(text string) string {
			return regexp.MustCompile("[^a-zA-Z0-9\u0080-\U0010ffff\n]").ReplaceAllString(text, `\$0`)
		},
		"SQL":             func(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" },
		"SQL, escaped":    func(text string) string { return "E'" + strings.NewReplacer("'", "''", `\`, `\\`).Replace(text) + "'" },
		"%q of JSON":      func(text string) string { raw, _ := json.Marshal(text); return fmt.Sprintf("%q", raw) },
		"a cookie in XML": func(text string) string { return html.EscapeString(url.QueryEscape(text)) },
	}
}

// Nothing is left of a secret, whatever it contains and however a program escapes it.
func TestNothingOfASecretIsLeft(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 7))
	all := []rune(`abcXYZ0189'"'"&<>\/%+=?#@:;,.-_~$!|(){}[]^` + "`  \n\t\u00a0äß日😀")
	// Where base64 encodes more than the secret, a character or two belong to the rest.
	left := regexp.MustCompile(`[\pL\pN]{5,}`)
	for range 150 {
		runes := make([]rune, 6+random.IntN(90))
		for n := range runes {
			runes[n] = all[random.IntN(len(all))]
		}
		secret := "q" + strings.ReplaceAll(string(runes), "*", "") + "z"
		m := New([]string{secret})
		for name, encode := range encoders() {
			masked := m.Apply("(" + encode(secret) + ")")
			NewWithT(t).Expect(masked).To(ContainSubstring(MaskText), "%q, %s", secret, name)
			NewWithT(t).Expect(left.FindString(masked)).To(BeEmpty(), "%q, %s: %q", secret, name, masked)
			NewWithT(t).Expect(len(masked)).To(BeNumerically("<", 40), "%q, %s: %q", secret, name, masked)
		}
	}
}
