// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package mask

import (
	"regexp"
	"slices"
	"strings"
)

// loginsIn lists the passwords that a text marks by their position rather than by an
// assignment to a name.
func loginsIn(text string) []member {
	if len(text) > maxStructure {
		return nil
	}
	var all []member
	for _, found := range [][]string{credentials(text), settings(text), netrc(text), pgpass(text), hashes(text), arguments(text), oracle(text)} {
		for _, value := range found {
			for _, read := range readings(value) {
				all = append(all, member{namesSecret, read})
			}
		}
	}
	return all
}

// credentials returns what follows an authentication scheme, as in an Authorization
// header.
func credentials(text string) []string {
	const schemes = `bearer|basic|token|apikey|key|splunk|genie-?key|negotiate`
	if fields := strings.Fields(text); len(fields) == 2 && regexp.MustCompile(`^(?i)(?:`+schemes+`)$`).MatchString(fields[0]) {
		return fields[1:]
	}
	var found []string
	for _, header := range regexp.MustCompile(`(?i)\b(?:bearer|basic|apikey)[ \t]+([\w~+/.=:-]{8,})`).FindAllStringSubmatch(text, -1) {
		if !isWordOnly(header[1]) {
			found = append(found, header[1])
		}
	}
	return found
}

// settings returns the values of lines that separate name and value by blanks only, and
// the passwords in SQL.
func settings(text string) []string {
	found := submatches(`(?i)\b(?:password|identified by)\s+'((?:[^']|'')*)'`, text)
	for _, line := range regexp.MustCompile(`(?m)^[ \t]*(?:(?:ENV|setenv)[ \t]+)?([A-Za-z_][\w.-]*)[ \t]+(\S+)[ \t\r]*$`).FindAllStringSubmatch(text, -1) {
		if meaningOf(line[1]) == namesSecret {
			found = append(found, strings.Trim(line[2], `"'`))
		}
	}
	return found
}

// arguments returns the arguments of command-line options with secret names, and the
// password of curl -u.
func arguments(text string) []string {
	var found []string
	for _, option := range regexp.MustCompile(`(?:^|\s)--?([A-Za-z][\w-]*)[ \t]+("[^"\n]*"|'[^'\n]*'|[^\s-]\S*)`).FindAllStringSubmatch(text, -1) {
		value := strings.Trim(option[2], `"'`)
		if _, password, ok := strings.Cut(value, ":"); ok && (option[1] == "u" || option[1] == "user") {
			found = append(found, password)
		}
		if meaningOf(option[1]) == namesSecret {
			found = append(found, value)
		}
	}
	return found
}

// oracle returns the passwords in Oracle connection strings.
func oracle(text string) []string {
	return submatches(`\b\w+/([^\s/@"]+)@(?://|\(|[\w.-]+:\d+[/:])`, text)
}

// netrc returns the passwords in a .netrc file, which curl, git and others read.
func netrc(text string) []string {
	var found []string
	fields := strings.Fields(text)
	if !slices.Contains(fields, "machine") && !slices.Contains(fields, "default") {
		return nil
	}
	for n, field := range fields {
		if n > 0 && (fields[n-1] == "password" || fields[n-1] == "account") {
			found = append(found, field)
		}
	}
	return found
}

// pgpass returns the passwords in a PostgreSQL password file, whose lines are
// host:port:database:user:password.
func pgpass(text string) []string {
	const field = `(?:[^:\\\s]|\\.)+`
	return submatches(`(?m)^`+field+`:(?:\d+|\*):`+field+`:`+field+`:(.*\S)\s*$`, text)
}

// hashes returns the password hashes that Apache and crypt write after a user.
func hashes(text string) []string {
	return submatches(`(?m)^[^\s:]+:((?:\$\w+\$|\{\w+\})\S+?)(?:[:\s]|$)`, text)
}

func submatches(pattern, text string) []string {
	var found []string
	for _, match := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
		found = append(found, match[1])
	}
	return found
}

// passwordOf returns the password of a text that is just user:password.
func passwordOf(text string) (string, bool) {
	user, password, ok := strings.Cut(strings.TrimSpace(text), ":")
	if !ok || user == "" || strings.ContainsAny(user, "/{[\"'") || strings.ContainsFunc(text, isBlank) || strings.HasPrefix(password, "//") || user == "arn" {
		return "", false
	}
	return password, true
}
