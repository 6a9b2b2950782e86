// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"strings"
	"unicode/utf8"

	"github.com/flux-pulumi/pulumi-controller/internal/mask"
)

// maxTold bounds what is kept of a text that Pulumi tells, in bytes. It is more than
// is shown of one: masks make it shorter.
const maxTold = 16 << 10

// told is a text of Pulumi as it came: what is secret in it may be known later only,
// and what was masked, or made tidy, before is not found any more. It is shown through
// a masker alone.
type told struct {
	raw string
	// isCut says that it was longer.
	isCut bool
}

// tell keeps a text, bounded. The end of what is left is no part of a character.
func tell(text string) told {
	if len(text) <= maxTold {
		return told{raw: text}
	}
	end := maxTold
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	// Nor is it a part of an escape, of which the longest has ten characters.
	if at := strings.LastIndexAny(text[end-10:end], `\%&`); at >= 0 {
		end += at - 10
		end = len(strings.TrimRight(text[:end], `\`))
	}
	return told{raw: text[:end], isCut: true}
}

// and is both texts, one below the other.
func (t told) and(next told) told {
	if t.isCut {
		return t
	}
	both := tell(t.raw + "\n" + next.raw)
	both.isCut = both.isCut || next.isCut
	return both
}

// masked is the text as it may be shown, tidy. It is masked again after that: colours
// in the midst of a secret hide it from a mask.
func (t told) masked(m *mask.Masker) string {
	if t.isCut {
		return m.ApplyCut(tidy(m.ApplyCut(t.raw))) + "..."
	}
	return m.Apply(tidy(m.Apply(t.raw)))
}

// toldLine is a text about a resource, after what it is, such as an error.
type toldLine struct {
	urn, lead string
	text      told
}

func (l toldLine) masked(m *mask.Masker) string {
	return about(l.urn, l.lead+strings.TrimPrefix(l.text.masked(m), l.lead))
}
