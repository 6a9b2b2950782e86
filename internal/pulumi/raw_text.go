// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"strings"
	"unicode/utf8"

	"github.com/flux-pulumi/pulumi-controller/internal/mask"
)

// maxRawText bounds the kept text of a message, in bytes. It is more than is shown,
// because masking shortens the text.
const maxRawText = 16 << 10

// rawText is a text of Pulumi as it came, and is shown only through a masker. Its secrets
// may become known only later, and would not be found in text that was already masked
// or tidied.
type rawText struct {
	raw string
	// isCut is set if the text was longer.
	isCut bool
}

// newRawText keeps a text, bounded, without splitting a character at the end.
func newRawText(text string) rawText {
	if len(text) <= maxRawText {
		return rawText{raw: text}
	}
	end := maxRawText
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	// Do not split an escape either: the longest has ten characters.
	if at := strings.LastIndexAny(text[end-10:end], `\%&`); at >= 0 {
		end += at - 10
		end = len(strings.TrimRight(text[:end], `\`))
	}
	return rawText{raw: text[:end], isCut: true}
}

// and joins both texts, one below the other.
func (t rawText) and(next rawText) rawText {
	if t.isCut {
		return t
	}
	both := newRawText(t.raw + "\n" + next.raw)
	both.isCut = both.isCut || next.isCut
	return both
}

// masked is the text as it may be shown, tidy. It is masked again after tidy, because
// colours within a secret hide it from the mask.
func (t rawText) masked(m *mask.Masker) string {
	if t.isCut {
		return m.ApplyCut(tidy(m.ApplyCut(t.raw))) + "..."
	}
	return m.Apply(tidy(m.Apply(t.raw)))
}

// rawLine is a text about a resource, with a lead such as "error: ".
type rawLine struct {
	urn, lead string
	text      rawText
}

func (l rawLine) masked(m *mask.Masker) string {
	return about(l.urn, l.lead+strings.TrimPrefix(l.text.masked(m), l.lead))
}
