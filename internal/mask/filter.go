// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package mask

import (
	"encoding/json"
	"slices"
	"strings"
)

// SecretText is what Pulumi prints in place of a secret.
const SecretText = "[secret]"

const (
	// filteredFrom is the minimum length of the config secrets that Pulumi filters.
	filteredFrom = 3
	// maxMixes bounds the number of mixed variants of a text, maxMixed the length of a
	// text that has any.
	maxMixes = 16
	maxMixed = 4 << 10
)

// engineFilter models what Pulumi does to everything it prints: it replaces each config
// secret with "[secret]", even within a longer secret, which is then no longer found as
// it is. Where two config secrets begin at the same place, it may replace either.
type engineFilter struct{ config patterns }

func newEngineFilter(config []string) engineFilter {
	f := engineFilter{config: newPatterns(filteredFrom, new(starts))}
	for _, secret := range config {
		if len(secret) < filteredFrom || strings.EqualFold(secret, "true") || strings.EqualFold(secret, "false") {
			continue
		}
		f.config.add(secret)
		f.config.add(quotedInJSON(secret))
	}
	f.config.sort()
	return f
}

// variants returns a text and what Pulumi may make of it. A text is usually escaped in
// one way as a whole, so the first variants assume one way of escaping: secrets that it
// changes stay, all others are replaced. For short texts, variants that mix these follow.
// A variant that consists of "[secret]" only would match anything and is left out.
func (f engineFilter) variants(text string) []string {
	all := []string{text}
	if len(f.config.byStart) == 0 {
		return all
	}
	add := func(r *rewrite) {
		variant := r.of(text)
		if strings.TrimSpace(strings.ReplaceAll(variant, SecretText, "")) != "" && !slices.Contains(all, variant) {
			all = append(all, variant)
		}
	}
	for _, changes := range []func(string) bool{changesNone, isEscaped, changesQuotes, changesHTML, changesBlanks} {
		add(f.rewritten(text, func(choices []*rewrite) *rewrite {
			last := choices[len(choices)-1]
			if last.stays && changes(text[choices[0].from:choices[0].at]) {
				return last
			}
			return choices[0]
		}))
	}
	if len(all) == 1 || len(text) > maxMixed {
		return all
	}
	var left []*rewrite
	take := func(choices []*rewrite) *rewrite {
		left = append(left, choices[1:]...)
		return choices[0]
	}
	add(f.rewritten(text, take))
	for tries := 0; len(left) > 0 && tries < maxMixes; tries++ {
		r := left[len(left)-1]
		left = left[:len(left)-1]
		add(f.rewrittenFrom(r, text, take))
	}
	return all
}

// rewritten rewrites a text, calling take to choose at each config secret.
func (f engineFilter) rewritten(text string, take func([]*rewrite) *rewrite) *rewrite {
	return f.rewrittenFrom(&rewrite{}, text, take)
}

func (f engineFilter) rewrittenFrom(r *rewrite, text string, take func([]*rewrite) *rewrite) *rewrite {
	for r.at < len(text) {
		r = take(f.choices(r, text))
	}
	return r
}

// rewrite is one step in rewriting a text.
type rewrite struct {
	// before is the previous step, nil at the beginning. from is where the replaced
	// config secret begins, and equals at where none is replaced.
	before   *rewrite
	from, at int
	// stays says that the config secret there is not replaced.
	stays bool
}

// choices returns the possible steps at the next config secret. A secret that some
// programs escape may also stay, because Pulumi replaces it only verbatim or escaped as
// JSON.
func (f engineFilter) choices(r *rewrite, text string) []*rewrite {
	for at := r.at; at < len(text); at++ {
		var next []*rewrite
		stays := false
		for _, length := range f.config.matches(text[at:]) {
			next = append(next, &rewrite{before: r, from: at, at: at + length})
			stays = stays || isEscaped(text[at:at+length])
		}
		if stays {
			next = append(next, &rewrite{before: r, from: at + 1, at: at + 1, stays: true})
		}
		if len(next) > 0 {
			return next
		}
	}
	return []*rewrite{{before: r, from: len(text), at: len(text)}}
}

// of returns the rewritten text.
func (r *rewrite) of(text string) string {
	var steps []*rewrite
	for ; r.before != nil; r = r.before {
		steps = append(steps, r)
	}
	var out strings.Builder
	done := 0
	for _, step := range slices.Backward(steps) {
		out.WriteString(text[done:step.from])
		if step.from < step.at {
			out.WriteString(SecretText)
		}
		done = step.at
	}
	return out.String() + text[done:]
}

// isEscaped reports whether some way of escaping changes a text.
func isEscaped(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("-_.~", r)
	})
}

func changesNone(string) bool { return false }

// changesQuotes is for SQL, YAML and shells, changesHTML for HTML and XML, and
// changesBlanks for texts folded over several lines.
func changesQuotes(text string) bool { return strings.Contains(text, "'") }
func changesHTML(text string) bool   { return strings.ContainsAny(text, `&<>'"`) }
func changesBlanks(text string) bool { return strings.ContainsAny(text, blankBytes) }

// quotedInJSON returns a text as it stands between the quotation marks of JSON.
func quotedInJSON(text string) string {
	raw, err := json.Marshal(text)
	if err != nil {
		return text // a string can always be encoded
	}
	return string(raw[1 : len(raw)-1])
}
