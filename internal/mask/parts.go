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

// maxNesting is how often a text in a structured value is looked into again, as the
// kubeconfig in a Secret in YAML.
const maxNesting = 3

// byteOrderMark is what some editors begin a file with.
const byteOrderMark = "\ufeff"

// secretValue is a value to mask, or a part of one.
type secretValue struct {
	text string
	// asWord says that it is masked where it is a word of its own only, and structured
	// that its parts are known, so that its lines are none.
	asWord, structured bool
}

// parts are the parts of values that are masked where they are alone: Pulumi hands a
// kubeconfig or the key of an account on as what it describes, and a provider that
// complains of it prints its members. Most of these are names that stand in every
// error, of a cluster, a region or a project: who reads the error needs them, and who
// must not know the secret gains little by them. So a member is masked
//   - under the name of a secret, from shortMask characters on, and a short one as a
//     word only,
//   - where it is a URL, if there is something at random in its path,
//   - under a plain name, such as that of a host, never,
//   - under any other name, where something in it is at random.
//
// The value as a whole is masked in any case.
type parts struct {
	whereURLLeads, usual *regexp.Regexp
	// all has each part once, and visited what was looked into.
	all     map[secretValue]bool
	visited map[string]bool
}

// withParts adds the parts of values that are structured, the passwords in URLs, and
// what becomes of values that are not text: JSON, gRPC and terminals put a character
// in the place of each byte that is none, or of all in a row.
func withParts(values []string) []secretValue {
	p := &parts{whereURLLeads: whereURLLeads(), usual: usualThings(), all: map[secretValue]bool{}, visited: map[string]bool{}}
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

// saysYesOrNo is a value that anything may have: masking it tells more than it hides.
func saysYesOrNo(text string) bool {
	text = strings.ToLower(strings.TrimSpace(text))
	return text == "true" || text == "false" || text == "null"
}

// lookInto adds the parts of a value, and tells whether it is structured.
func (p *parts) lookInto(value string, says meaning, depth int) bool {
	if depth == 0 || len(value) < shortMask {
		return false
	}
	value = strings.TrimPrefix(value, byteOrderMark)
	members, structured := membersOf(value)
	if !structured {
		members = append(members, assignmentsIn(value)...)
		members = append(members, loginsIn(value)...)
		if password, ok := passwordOf(value); ok && says != namesPlain && says != namesNothing && (depth < maxNesting || looksChosen(password)) {
			members = append(members, member{namesSecret, password}) // without a name it may as well be the tag of an image
		}
		p.addURLs(value)
		p.addBase64(value, says, depth)
	}
	for _, found := range members {
		p.addMember(found, depth)
	}
	return structured
}

func (p *parts) addMember(found member, depth int) {
	key := string(rune('0'+int(found.says))) + found.text
	if p.visited[key] {
		return
	}
	p.visited[key] = true
	structured := p.lookInto(found.text, found.says, depth-1)
	length := len(strings.TrimSpace(found.text))
	if length < shortMask || saysYesOrNo(found.text) || !p.isSecret(found) {
		return
	}
	p.all[secretValue{text: found.text, asWord: length < maskedLine, structured: structured}] = true
}

func (p *parts) isSecret(found member) bool {
	switch where := p.whereURLLeads.FindString(found.text); {
	case found.says == namesSecret:
		return true
	case where != "":
		return hasMixed(found.text[len(where):])
	case found.says == namesPlain:
		return false
	case found.says == namesKey:
		return !isWordOnly(found.text)
	}
	return p.isRandom(found.text)
}

// addURLs adds the passwords of the URLs in a value. One that comes from a file ends in
// a line break, and a file of credentials has one in each line.
func (p *parts) addURLs(value string) {
	for word := range strings.FieldsSeq(value) {
		for _, part := range urlsIn(word) {
			for _, secret := range InURL(part) {
				p.all[secretValue{text: secret}] = true
			}
		}
	}
}

// addBase64 adds what a value in base64 is, as the members of a Secret and the
// credentials for a registry are. Where it has a user, the password is after it.
func (p *parts) addBase64(value string, says meaning, depth int) {
	decoded, ok := decodedBase64(value)
	if !ok {
		return
	}
	p.addMember(member{says, decoded}, depth)
	if _, password, ok := strings.Cut(decoded, ":"); ok && says != namesPlain && !isStructured(decoded) {
		p.addMember(member{namesSecret, password}, depth)
	}
}

// decodedBase64 reads either alphabet, with its filling or without.
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

// isReadable tells a text from bytes.
func isReadable(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool {
		return !unicode.IsPrint(r) && !strings.ContainsRune(blankBytes, r)
	})
}
