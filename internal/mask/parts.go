// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package mask

import (
	"encoding/base64"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxNesting is how many levels of structured values within each other are read, such as
// a kubeconfig in a Secret in YAML.
const maxNesting = 3

// byteOrderMark begins the files of some editors.
const byteOrderMark = "\ufeff"

// secretValue is a value to mask, or a part of one.
type secretValue struct {
	text string
	// asWord says that the value is masked only as a whole word, structured that its
	// parts are known, so that its lines are not masked.
	asWord, structured bool
}

// parts collects the parts of values that are masked on their own: Pulumi passes a
// kubeconfig or an account key on as what it describes, and a provider that complains
// about it prints its members. Most members are names of a cluster, a region or a project
// that every error contains. Readers need them, and they reveal little. So whether a
// member is masked depends on its name and text:
//
//   - the name of a secret: from shortMask characters on, short ones only as whole words,
//   - a URL: only if its path contains something random,
//   - a plain name, such as that of a host: never,
//   - any other name: only if it contains something random.
//
// The value as a whole is always masked.
type parts struct {
	whereURLLeads, usual, nameAndSign, quotedText *regexp.Regexp
	// all is the set of parts found, and visited the set of texts already looked into.
	all     map[secretValue]bool
	visited map[string]bool
}

func newParts() *parts {
	return &parts{
		whereURLLeads: whereURLLeads(), usual: usualThings(), nameAndSign: nameAndSign(), quotedText: quotedText(),
		all: map[secretValue]bool{}, visited: map[string]bool{},
	}
}

// withParts returns the values together with the parts of structured ones, the passwords
// in URLs, and what invalid UTF-8 turns into: JSON, gRPC and terminals replace each
// invalid byte, or each run of them, with one character.
func withParts(values []string) []secretValue {
	p := newParts()
	for _, value := range values {
		if saysYesOrNo(value) {
			continue
		}
		p.all[secretValue{text: value, structured: p.lookInto(value, namesSecret, maxNesting)}] = true
		if !utf8.ValidString(value) {
			p.all[secretValue{text: string([]rune(value))}] = true
			p.all[secretValue{text: strings.ToValidUTF8(value, string(utf8.RuneError))}] = true
		}
	}
	found := make([]secretValue, 0, len(p.all))
	for value := range p.all {
		found = append(found, value)
	}
	return found
}

// saysYesOrNo recognizes values that occur everywhere: masking one reveals more than it
// hides.
func saysYesOrNo(text string) bool {
	text = strings.ToLower(strings.TrimSpace(text))
	return text == "true" || text == "false" || text == "null"
}

// lookInto adds the parts of a value and tells whether it is structured.
func (p *parts) lookInto(value string, means meaning, depth int) bool {
	if depth == 0 || len(value) < shortMask {
		return false
	}
	value = strings.TrimPrefix(value, byteOrderMark)
	members, structured := membersOf(value)
	if !structured {
		members = append(members, p.settingsIn(value, means)...)
		if password, ok := passwordOf(value); ok && means != namesPlain && means != namesNothing && (depth < maxNesting || looksChosen(password)) {
			members = append(members, member{namesSecret, password}) // without a name it may as well be an image tag
		}
		p.addURLs(value)
		p.addBase64(value, means, depth)
	}
	for _, found := range members {
		p.addMember(found, depth)
	}
	return structured
}

func (p *parts) addMember(found member, depth int) {
	key := string(rune('0'+int(found.means))) + found.text
	if p.visited[key] {
		return
	}
	p.visited[key] = true
	structured := p.lookInto(found.text, found.means, depth-1)
	length := len(strings.TrimSpace(found.text))
	if length < shortMask || saysYesOrNo(found.text) || !p.isSecret(found) {
		return
	}
	p.all[secretValue{text: found.text, asWord: length < maskedLine, structured: structured}] = true
}

func (p *parts) isSecret(found member) bool {
	switch where := p.whereURLLeads.FindString(found.text); {
	case found.means == namesSecret:
		return true
	case where != "":
		return hasMixed(found.text[len(where):])
	case found.means == namesPlain:
		return false
	case found.means == namesKey:
		return !isWordOnly(found.text)
	}
	return p.isRandom(found.text)
}

// passwordOf returns the password of a text that is just user:password.
func passwordOf(text string) (string, bool) {
	user, password, ok := strings.Cut(strings.TrimSpace(text), ":")
	if !ok || user == "" || strings.ContainsAny(user, "/{[\"'") || strings.ContainsFunc(text, isBlank) || strings.HasPrefix(password, "//") || user == "arn" {
		return "", false
	}
	return password, true
}

// addURLs adds the passwords of all URLs in a value: one from a file ends in a line
// break, and a git credentials file has one per line.
func (p *parts) addURLs(value string) {
	for word := range strings.FieldsSeq(value) {
		for _, part := range urlsIn(word) {
			for _, secret := range InURL(part) {
				p.all[secretValue{text: secret}] = true
			}
		}
	}
}

// addBase64 adds the text of a base64 value, such as a member of a Secret or the
// credentials for a registry. If the text is user:password, it adds the password too.
func (p *parts) addBase64(value string, means meaning, depth int) {
	decoded, ok := decodedBase64(value)
	if !ok {
		return
	}
	p.addMember(member{means, decoded}, depth)
	if _, password, ok := strings.Cut(decoded, ":"); ok && means != namesPlain && !isStructured(decoded) {
		p.addMember(member{namesSecret, password}, depth)
	}
}

// decodedBase64 decodes either alphabet, with or without padding.
func decodedBase64(value string) (string, bool) {
	text := strings.TrimRight(strings.Join(strings.Fields(value), ""), "=")
	decoded, err := base64.RawStdEncoding.DecodeString(text)
	if err != nil {
		decoded, err = base64.RawURLEncoding.DecodeString(text)
	}
	return string(decoded), err == nil && len(decoded) >= shortMask && isReadable(string(decoded))
}

func isStructured(value string) bool {
	_, structured := membersOf(value)
	return structured
}

// isReadable distinguishes text from binary data.
func isReadable(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool {
		return !unicode.IsPrint(r) && !strings.ContainsRune(blankBytes, r)
	})
}
