// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package mask

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// PublicURL returns a URL without its user, password, query and fragment, any of which
// may be secret, and without trailing slashes. It returns false if the text is not a URL.
func PublicURL(text string) (string, bool) {
	u, err := url.Parse(text)
	if err != nil {
		return "", false
	}
	public := url.URL{Scheme: u.Scheme, Opaque: u.Opaque, Host: u.Host, Path: strings.TrimRight(u.Path, "/")}
	return public.String(), true
}

// ShownURL returns a URL with its query, in which the values that may be secret are
// hidden, and otherwise as PublicURL does: without user, password and fragment. It returns
// false if the text is not a URL.
func ShownURL(text string) (string, bool) {
	public, ok := PublicURL(text)
	if !ok {
		return "", false
	}
	text, _, _ = strings.Cut(text, "#")
	_, query, found := strings.Cut(text, "?")
	if !found {
		return public, true
	}
	pairs := strings.Split(query, "&")
	for i, pair := range pairs {
		name, value, _ := strings.Cut(pair, "=")
		if isSecretName(name) || isSecretValue(value) {
			pairs[i] = name + "=" + SecretText
		}
	}
	return public + "?" + strings.Join(pairs, "&"), true
}

// isSecretValue reports whether the value of a query parameter is a URL with a secret, such
// as an endpoint with a password.
func isSecretValue(value string) bool {
	decoded, err := url.QueryUnescape(value)
	return err != nil || strings.Contains(decoded, "@") || len(InURL(decoded)) > 0
}

// InURL lists the secrets in a URL: the password, or a user without a password, which is
// a token then, and query parameters with secret names. What PublicURL shows is never a
// secret.
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
	// An unescaped password may contain characters that end it for a URL parser.
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

// urlsIn returns the URLs in a word, which may be a list of them. It adds a scheme to
// what lacks only that, such as user:password@tcp(host)/database.
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
