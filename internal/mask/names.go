// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package mask

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// meaning is what the name of a member says of its value.
type meaning int

const (
	namesNothing meaning = iota
	// namesKey is a name of secrets and of other things: "key" may be a key of a map.
	namesKey
	namesSecret
	namesPlain
)

// meaningOf tells it by the words of a name. The last word says what it is: a token's
// type is no token, and the name of a key is no key.
func meaningOf(name string) meaning {
	words := wordsOf(name)
	if len(words) == 0 {
		return namesNothing
	}
	last := words[len(words)-1]
	switch {
	case slices.Contains(plainWords(), last):
		return namesPlain
	case slices.ContainsFunc(words, isSecretWord):
		return namesSecret
	case slices.ContainsFunc(words, func(word string) bool { return slices.Contains(keyWords(), word) }):
		if len(words) > 1 && last != "keys" {
			return namesSecret // apiKey, client-key-data
		}
		return namesKey
	}
	return namesNothing
}

// isSecretName tells whether a name is one of secrets, such as that of a parameter.
func isSecretName(name string) bool {
	says := meaningOf(name)
	return says == namesSecret || says == namesKey
}

// isSecretWord also knows the usual words that are written as one, such as dbpassword.
func isSecretWord(word string) bool {
	word = strings.TrimSuffix(word, "s")
	return slices.Contains([]string{"pas", "pass", "pwd", "pw", "pin", "secret", "token", "cred", "credential", "sig", "signature"}, word) ||
		strings.HasSuffix(word, "password") || strings.HasSuffix(word, "passwd") || strings.HasPrefix(word, "passphrase") ||
		strings.HasSuffix(word, "apikey") || strings.HasSuffix(word, "secretkey") || strings.HasSuffix(word, "accesskey") ||
		strings.HasSuffix(word, "privatekey") || strings.HasSuffix(word, "accountkey") || strings.HasSuffix(word, "secret") ||
		strings.HasSuffix(word, "token")
}

func keyWords() []string { return []string{"key", "keys", "auth", "authorization"} }

// plainWords end the names of what is told to everybody.
func plainWords() []string {
	return []string{
		"address", "algorithm", "cluster", "domain", "email", "enabled", "endpoint", "expires", "expiry", "file", "format", "host",
		"hostname", "id", "ids", "kind", "length", "name", "namespace", "path", "policy", "port", "project", "region", "suffix",
		"ttl", "type", "uri", "url", "user", "username", "version", "zone",
	}
}

// wordsOf splits a name where a capital follows, and at all that is no letter.
func wordsOf(name string) []string {
	var words []string
	var word strings.Builder
	runes := []rune(name)
	for n, r := range runes {
		upper := unicode.IsUpper(r)
		begins := upper && n > 0 && (unicode.IsLower(runes[n-1]) || n+1 < len(runes) && unicode.IsLower(runes[n+1]))
		if word.Len() > 0 && (begins || !unicode.IsLetter(r)) {
			words = append(words, word.String())
			word.Reset()
		}
		if unicode.IsLetter(r) {
			word.WriteRune(unicode.ToLower(r))
		}
	}
	if word.Len() > 0 {
		words = append(words, word.String())
	}
	return words
}

// whereURLLeads finds the scheme and the host of a URL, which are no secret.
func whereURLLeads() *regexp.Regexp { return regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9+.-]*://[^/?#]*`) }

// hasMixed tells whether there is something at random in a text: the URL of a webhook
// has its secret in its path.
func hasMixed(text string) bool {
	runs := strings.FieldsFunc(text, func(r rune) bool { return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	return slices.ContainsFunc(runs, isMixed)
}

// isMixed tells whether letters and digits take turns, or are many: a digit or two at
// the end of a word are the number of something.
func isMixed(run string) bool {
	if len(run) < maskedLine {
		return false
	}
	turns := 0
	for n := 1; n < len(run); n++ {
		if isDigit(run[n-1]) != isDigit(run[n]) {
			turns++
		}
	}
	const many = 16
	return turns >= 2 || turns == 1 && len(run) >= many
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// isWordOnly tells whether a value is a word such as "read".
func isWordOnly(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) })
}
