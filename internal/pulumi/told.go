// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"strings"
	"unicode/utf8"

	"github.com/flux-pulumi/pulumi-controller/internal/mask"
)

// maxTold bounds the kept text of a message, in bytes. It is more than is shown,
// because masking shortens the text.
const maxTold = 16 << 10

// told is a text of Pulumi as it came, and is shown only through a masker. Its secrets
// may become known only later, and would not be found in text that was already masked
// or tidied.
type told struct {
	raw string
	// isCut is set if the text was longer.
	isCut bool
}

// tell keeps a text, bounded, without splitting a character at the end.
func tell(text string) told {
	if len(text) <= maxTold {
		return told{raw: text}
	}
	end := maxTold
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	// Do not split an escape either: the longest has ten characters.
	if at := strings.LastIndexAny(text[end-10:end], `\%&`); at >= 0 {
		end += at - 10
		end = len(strings.TrimRight(text[:end], `\`))
	}
	return told{raw: text[:end], isCut: true}
}

// and joins both texts, one below the other.
func (t told) and(next told) told {
	if t.isCut {
		return t
	}
	both := tell(t.raw + "\n" + next.raw)
	both.isCut = both.isCut || next.isCut
	return both
}

// masked is the text as it may be shown, tidy. It is masked again after tidy, because
// colours within a secret hide it from the mask.
func (t told) masked(m *mask.Masker) string {
	if t.isCut {
		return m.ApplyCut(tidy(m.ApplyCut(t.raw))) + "..."
	}
	return m.Apply(tidy(m.Apply(t.raw)))
}

// toldLine is a text about a resource, with a lead such as "error: ".
type toldLine struct {
	urn, lead string
	text      told
}

func (l toldLine) masked(m *mask.Masker) string {
	return about(l.urn, l.lead+strings.TrimPrefix(l.text.masked(m), l.lead))
}
