// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package mask

import (
	"encoding/base64"
	"net/url"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

func TestMask(t *testing.T) {
	key := "-----BEGIN KEY-----\nabcdefghijkl\nmnopqrstuvwx\n-----END KEY-----\n"
	for name, test := range map[string]struct {
		values     []string
		text, want string
	}{
		"no value changes nothing":                 {nil, "a text", "a text"},
		"an empty value changes nothing":           {[]string{"", " \n"}, "a text", "a text"},
		"a value is masked within a word":          {[]string{"s3cret"}, "xs3crety", "x***y"},
		"the longer of two values wins":            {[]string{"abcd", "abcdefgh"}, "abcdefgh abcd", "*** ***"},
		"a short value is masked as a whole word":  {[]string{"ab"}, "ab cab ab_ (ab) abab", "*** cab ab_ (***) abab"},
		"a value with quotes is masked in JSON":    {[]string{`pa"ss"1`}, `{"x":"pa\"ss\"1"}`, `{"x":"***"}`},
		"the quote after it may be one of its own": {[]string{`pa"ss"`}, `{"x":"pa\"ss\""}`, `{"x":"***}`},
		"a value with & is masked in JSON":         {[]string{`pa&ss`}, `{"x":"pa\u0026ss"}`, `{"x":"***"}`},
		"a value is masked in base64": {
			[]string{"s3cret!?"}, "x " + base64.StdEncoding.EncodeToString([]byte("s3cret!?")), "x ***",
		},
		"a value is masked in a URL":                    {[]string{"p@ss/w"}, "https://u:" + url.QueryEscape("p@ss/w") + "@h", "https://u:***@h"},
		"a value with a newline is masked without it":   {[]string{"s3cret\n"}, "is s3cret.", "is ***."},
		"the lines of a key are masked one by one":      {[]string{key}, "line: mnopqrstuvwx;", "line: ***;"},
		"a key is masked as a whole":                    {[]string{key}, "<" + key + ">", "<***>"},
		"a key is masked in JSON":                       {[]string{key}, strings.ReplaceAll(key, "\n", `\n`), "***"},
		"characters of several bytes do not disturb it": {[]string{"pä"}, "pä äpä", "*** äpä"},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(New(test.values).Apply(test.text)).To(Equal(test.want))
		})
	}
}

func FuzzMask(f *testing.F) {
	f.Add("secret", "a secret text")
	f.Add("ab", "ab cab")
	for _, value := range []string{
		"key=<<A\nb\nA\n", "tokens = [\"a\", 'b']", "secrets = {a = \"b\"\n}", "a: |\n  b\nc: >-\n d", "<a key=\"b\"><key>c</key>d</a>", "name,token\na,b\n",
		"[secrets]\na=b", "machine a login b password c", "a:1:b:c:d", "a/b@//c", "--token 'a'", "a:b@tcp(c)", `pw="a\"b""c"`, "pw={a;b}", "Bearer abc",
	} {
		f.Add(value, "text")
	}
	f.Fuzz(func(t *testing.T, value, text string) {
		trimmed := strings.TrimSpace(value)
		if len(trimmed) < shortMask || strings.Contains(trimmed, "*") {
			return
		}
		if strings.Contains(New([]string{value}).Apply(text+value+text), value) {
			t.Errorf("%q is still there", value)
		}
	})
}
