// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package mask

import (
	"encoding/json"
	"slices"
	"strings"
)

// SecretText is what Pulumi puts in the place of a secret.
const SecretText = "[secret]"

const (
	// filteredFrom is the length from which Pulumi filters a secret of the config.
	filteredFrom = 3
	// maxMixes bounds the mixed variants of a text, and maxMixed how long it may be.
	maxMixes = 16
	maxMixed = 4 << 10
)

// engineFilter is what Pulumi does to all that it tells: it puts "[secret]" in the
// place of each secret of the config, also within a longer secret, which is not found
// any more as what it is. Of two that begin at the same place any may be taken.
type engineFilter struct{ config needles }

func newEngineFilter(config []string) engineFilter {
	f := engineFilter{config: newNeedles(filteredFrom, new(starts))}
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

// variants are a text and what Pulumi may make of it. A text is written in one way as
// a whole: so the first are those in which each way of writing leaves what it changes
// as it is, and all else is replaced. After them come some in which that is mixed, for
// a text that is not long. One that is no more than "[secret]" says nothing.
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

// rewritten is a text with one choice taken at each secret of the config.
func (f engineFilter) rewritten(text string, take func([]*rewrite) *rewrite) *rewrite {
	return f.rewrittenFrom(&rewrite{}, text, take)
}

func (f engineFilter) rewrittenFrom(r *rewrite, text string, take func([]*rewrite) *rewrite) *rewrite {
	for r.at < len(text) {
		r = take(f.choices(r, text))
	}
	return r
}

// rewrite is how far a text has been rewritten.
type rewrite struct {
	// before is nil at the beginning, and from is where a secret of the config begins
	// that is replaced, or at where none is.
	before   *rewrite
	from, at int
	// stays says that the secret there stays as it is.
	stays bool
}

// choices are the ways on from the next secret of the config. One that some programs
// write in another way may also stay as it is: Pulumi knows it as it is, and in JSON.
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

// of is the text as it was rewritten.
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

// isEscaped tells whether a text is written in another way somewhere.
func isEscaped(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("-_.~", r)
	})
}

func changesNone(string) bool { return false }

// changesQuotes is SQL, YAML and shells, changesHTML HTML and XML, and changesBlanks
// what goes over many lines.
func changesQuotes(text string) bool { return strings.Contains(text, "'") }
func changesHTML(text string) bool   { return strings.ContainsAny(text, `&<>'"`) }
func changesBlanks(text string) bool { return strings.ContainsAny(text, blankBytes) }

// quotedInJSON is the text as Pulumi writes it between the quotation marks of JSON.
func quotedInJSON(text string) string {
	raw, err := json.Marshal(text)
	if err != nil {
		return text // a string can always be encoded
	}
	return string(raw[1 : len(raw)-1])
}
