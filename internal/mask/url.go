// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package mask

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// PublicURL is a URL without what may be secret in it: without user and password, query
// and fragment, and without slashes at its end. False is a text that is no URL.
func PublicURL(text string) (string, bool) {
	u, err := url.Parse(text)
	if err != nil {
		return "", false
	}
	public := url.URL{Scheme: u.Scheme, Opaque: u.Opaque, Host: u.Host, Path: strings.TrimRight(u.Path, "/")}
	return public.String(), true
}

// InURL lists what is secret in a URL, in whatever field it is: the password, the user
// where there is no password, as that is a token then, and the parameters that are named
// as secrets are. What is told of a URL in any case is none.
func InURL(text string) []string {
	scheme, rest, ok := strings.Cut(text, "://")
	if !ok {
		return nil
	}
	var found []string
	public, ok := PublicURL(text)
	if !ok {
		public = scheme + "://"
	}
	add := func(text string) {
		if text == "" {
			return
		}
		found = append(found, text)
		if decoded, err := url.PathUnescape(text); err == nil {
			found = append(found, decoded)
		}
	}
	place, query, _ := strings.Cut(rest, "?")
	// A password may have a character in it that ends it for others.
	at := strings.LastIndexByte(place, '@')
	if at < 0 && strings.Contains(query, "@") {
		place, at = rest, strings.LastIndexByte(rest, '@')
	}
	if at >= 0 {
		if _, password, ok := strings.Cut(place[:at], ":"); ok {
			add(password)
		} else if len(place[:at]) >= maskedLine {
			add(place[:at])
		}
	}
	for pair := range strings.SplitSeq(query, "&") {
		if name, value, ok := strings.Cut(pair, "="); ok && isSecretName(name) {
			add(value)
		}
	}
	return slices.DeleteFunc(found, func(text string) bool { return strings.Contains(public, text) })
}

// urlsIn are the URLs in a word of a text, which may be a list of them, and what is one
// but for its scheme, such as user:password@tcp(host)/database.
func urlsIn(word string) []string {
	if !strings.Contains(word, "://") {
		user, rest, ok := strings.Cut(word, ":")
		if _, host, at := strings.Cut(rest, "@"); !ok || !at || strings.HasPrefix(host, "sha") || strings.ContainsAny(user, "/=\"'") ||
			slices.Contains([]string{"", "arn", "urn", "mailto", "sip", "acct"}, strings.ToLower(user)) {
			return nil
		}
		return []string{"none://" + word}
	}
	all := []string{word}
	starts := regexp.MustCompile(`[a-zA-Z][a-zA-Z0-9+.-]*://`).FindAllStringIndex(word, -1)
	for n, start := range starts {
		end := len(word)
		if n+1 < len(starts) {
			end = starts[n+1][0]
		}
		all = append(all, strings.TrimRight(word[start[0]:end], "\"'`,;)>]}"))
	}
	return all
}
