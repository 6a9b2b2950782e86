// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package mask

import (
	"regexp"
	"slices"
	"strings"
)

const (
	// maxUnquoted bounds a value without quotation marks.
	maxUnquoted = 8 << 10
	// maxLead bounds what is looked at before the name that a line begins with.
	maxLead = 64
	// marks may surround a value, or the rest of a list or object may follow it.
	marks = "\"'`()[]{}<>,;\\"
)

// nameAndSign matches a name and what separates it from its value: an equals sign, a colon,
// an arrow, the end of a tag, or only blanks, as in .netrc and after an option.
func nameAndSign() *regexp.Regexp {
	return regexp.MustCompile(`([A-Za-z_][\w.-]*)(?:["'\]\\]*[ \t]*(=>|[:=]=?|>)[ \t]*|[ \t]+)`)
}

// quotedText matches a value in quotation marks, in which escaped or doubled ones do not end it.
func quotedText() *regexp.Regexp {
	return regexp.MustCompile("^(?:\"((?:\\\\.|\"\"|[^\"\\\\])*)\"|'((?:\\\\.|''|[^'\\\\])*)'|`([^`]*)`)")
}

// settingsIn lists the values that a text gives to names, whatever its format: an env file, INI, a connection string,
// XML, the source of a program. Values without a name, such as those of a CSV table, are listed if they look random.
func (p *parts) settingsIn(text string, means meaning) []member {
	if len(text) > maxStructure {
		return nil
	}
	found, plain := p.namedValues(text)
	if means == namesPlain {
		return found
	}
	for word := range strings.FieldsFuncSeq(text, isSeparator) {
		if !plain[word] && p.isRandom(word) {
			found = append(found, member{namesNothing, word})
		}
	}
	return found
}

// namedValues lists the values after names, and which of them have a plain name.
func (p *parts) namedValues(text string) (found []member, plain map[string]bool) {
	plain = map[string]bool{}
	named := namesNothing // what the last field called name says about the next one called value
	for at := 0; ; {
		match := p.nameAndSign.FindStringSubmatchIndex(text[at:])
		if match == nil {
			return found, plain
		}
		name, sign, isFirst := text[at+match[2]:at+match[3]], "", startsLine(text, at+match[2])
		if match[4] >= 0 {
			sign = text[at+match[4] : at+match[5]]
		}
		at += match[1]
		means := meaningOf(name)
		if named != namesNothing && isValueName(name) {
			means = named
		}
		if sign == "" && means != namesSecret {
			continue
		}
		values, length := p.valuesAt(text[at:], sign, isFirst)
		if isNaming(name) && length > 0 {
			named = meaningOf(values[0])
		}
		for n, value := range values {
			plain[value] = means == namesPlain
			// A value that contains names is not one secret: its parts are judged by these.
			if means == namesSecret && n == 0 || !p.nameAndSign.MatchString(value) {
				found = append(found, decodings(means, value)...)
			}
		}
		if means == namesSecret {
			at += length
		}
	}
}

// startsLine reports whether a line begins at a position, or with a word that only a name can follow.
func startsLine(text string, at int) bool {
	lead := text[max(0, at-maxLead):at]
	end := strings.LastIndexByte(lead, '\n')
	if end < 0 && at > maxLead {
		return false
	}
	lead = strings.Trim(lead[end+1:], " \t\"'-")
	return lead == "" || lead == "export" || lead == "set" || lead == "ENV"
}

// valuesAt lists the values that a text may begin with, the shortest first, and returns the length of that one. A word
// with more text behind it is prose or a name in source code, unless an equals sign precedes it.
func (p *parts) valuesAt(text, sign string, isFirst bool) ([]string, int) {
	if match := p.quotedText.FindStringSubmatch(text); match != nil {
		inner := match[1] + match[2] + match[3]
		if strings.HasPrefix(inner, `""`) || strings.HasPrefix(inner, "''") {
			inner = strings.Trim(inner, "\"'\n") // many lines of TOML
		}
		return []string{inner}, len(match[0])
	}
	line := strings.TrimRight(before(text[:min(len(text), maxUnquoted)], "\n"), " \t\r")
	word := before(line, " \t")
	ends := []string{",;&\"'`<>", ",;&", ",;", "&;", ";", "\n"}
	if sign == ">" {
		ends = []string{"<"}
	}
	shortest := before(word, ends[0])
	if sign != "=" && line != shortest && isWordOnly(shortest) {
		return nil, 0
	}
	var values []string
	for _, end := range ends {
		values = append(values, strings.Trim(before(word, end), marks))
	}
	if isFirst {
		values = append(values, line)
	}
	return slices.Compact(values), len(shortest)
}

func before(text, ends string) string {
	if end := strings.IndexAny(text, ends); end >= 0 {
		return text[:end]
	}
	return text
}

// isSeparator recognizes what may surround a value without a name.
func isSeparator(r rune) bool { return isBlank(r) || strings.ContainsRune(marks+"=|", r) }

// decodings returns a value as it is written, and decoded in each way that its escapes allow.
func decodings(means meaning, value string) []member {
	all := []member{{means, value}}
	if !strings.ContainsAny(value, `\%&'"`) {
		return all
	}
	for _, e := range encodings() {
		if e.sign != "+" && e.sign != "'" && strings.Contains(value, e.sign) {
			all = append(all, member{means, view{text: value}.decode(e.starts, e.escape).text})
		}
	}
	return all
}
