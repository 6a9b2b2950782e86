// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package mask

import (
	"slices"
	"strings"
)

// maxEncodings is how many nested levels of escaping are undone: JSON in JSON, a URL
// password in JSON, an HTTP header in JSON.
const maxEncodings = 2

// view is a text with one kind of escaping undone, so that a value is found however a
// program escaped it.
type view struct {
	text string
	// from and to give, for each byte, the range of the source that it was decoded from.
	// Nil means the view is the source. A text has many views with such full-length
	// arrays, hence int32.
	from, to []int32
	// isGuess says that the view may not be text at all: any word decodes as base64.
	isGuess bool
}

// source returns the span of the source that a part of the view was decoded from.
func (v view) source(from, to int) span {
	if v.from == nil {
		return span{from, to}
	}
	return span{int(v.from[from]), int(v.to[to-1])}
}

// viewsOf returns the text itself and all its views after up to maxEncodings decodings.
// Most texts have few escapes. With evenBlanks, each view is also there with its blanks
// made even.
func viewsOf(text string, evenBlanks bool) []view {
	views := []view{{text: text}}
	known := map[string]bool{text: true}
	done := 0
	for range maxEncodings {
		level := views[done:]
		done = len(views)
		for _, v := range level {
			for _, read := range v.readings() {
				if len(read.text) > 0 && !known[read.text] {
					known[read.text] = true
					views = append(views, read)
				}
			}
		}
	}
	if !evenBlanks {
		return views
	}
	for _, v := range views[:len(views):len(views)] {
		if even := v.decode(blankBytes, blanks); even.text != v.text {
			views = append(views, even)
		}
	}
	return views
}

// readings decodes a view in each way whose sign it contains.
func (v view) readings() []view {
	var read []view
	for _, e := range encodings() {
		if strings.Contains(v.text, e.sign) {
			read = append(read, v.decode(e.starts, e.escape))
		}
	}
	runs := base64Runs(v.text)
	for offset := range base64Group {
		if len(runs) > 0 {
			read = append(read, v.fromBase64(runs, offset))
		}
	}
	return read
}

// decode undoes all escapes of one kind, which begin with one of the characters in
// starts. It returns a view without any unchanged.
func (v view) decode(starts string, read escape) view {
	decoded := builder{of: v}
	done := 0
	for at := 0; ; {
		next := strings.IndexAny(v.text[at:], starts)
		if next < 0 {
			break
		}
		at += next
		meant, length := read(v.text[at:])
		if length == 0 {
			at++
			continue
		}
		decoded.copy(done, at)
		decoded.add(meant, at, at+length)
		at += length
		done = at
	}
	if done == 0 {
		return v
	}
	decoded.copy(done, len(v.text))
	return decoded.view()
}

// builder builds a view from another one.
type builder struct {
	of       view
	text     []byte
	from, to []int32
}

func (b *builder) grow() {
	if b.text == nil {
		size := len(b.of.text)
		b.text, b.from, b.to = make([]byte, 0, size), make([]int32, 0, size), make([]int32, 0, size)
	}
}

// add appends the decoded form of a part of the other view.
func (b *builder) add(meant string, from, to int) {
	b.grow()
	source := b.of.source(from, to)
	b.text = append(b.text, meant...)
	for range len(meant) {
		b.from, b.to = append(b.from, int32(source.from)), append(b.to, int32(source.to))
	}
}

// copy appends a part of the other view unchanged.
func (b *builder) copy(from, to int) {
	b.grow()
	b.text = append(b.text, b.of.text[from:to]...)
	if b.of.from != nil {
		b.from, b.to = append(b.from, b.of.from[from:to]...), append(b.to, b.of.to[from:to]...)
		return
	}
	done := len(b.from)
	b.from, b.to = slices.Grow(b.from, to-from)[:done+to-from], slices.Grow(b.to, to-from)[:done+to-from]
	for n := range to - from {
		b.from[done+n], b.to[done+n] = int32(from+n), int32(from+n+1)
	}
}

func (b *builder) view() view {
	return view{text: string(b.text), from: b.from, to: b.to, isGuess: b.of.isGuess}
}
