// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package mask

import (
	"slices"
	"strings"
)

// maxWritings is how many writings within each other are taken back: JSON in JSON, a
// password in a URL in JSON, a header of HTTP in JSON.
const maxWritings = 2

// view is a text with a way of writing taken back, to find in it what each program
// writes in its own way.
type view struct {
	text string
	// from and to are, for each byte, where what it was written as is in the source.
	// Nil is where it is here. There are many views of a text, of which each has these
	// for all of it: hence no more bits than it takes.
	from, to []int32
	// isGuess says that it may be no text at all: any word can be read as base64.
	isGuess bool
}

// source is the part of the source that a part of the view is of.
func (v view) source(from, to int) span {
	if v.from == nil {
		return span{from, to}
	}
	return span{int(v.from[from]), int(v.to[to-1])}
}

// viewsOf are the text itself, and what it is after one way of writing or two are
// taken back. Most texts have few of the signs of any. Where a needle has blanks in
// it, each is there with its blanks made even as well.
func viewsOf(text string, evenBlanks bool) []view {
	views := []view{{text: text}}
	known := map[string]bool{text: true}
	done := 0
	for range maxWritings {
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

// readings are a view with each way of writing taken back of which it has the sign.
func (v view) readings() []view {
	var read []view
	for _, w := range writings() {
		if strings.Contains(v.text, w.sign) {
			read = append(read, v.decode(w.starts, w.escape))
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

// decode takes back all escapes of a kind, which begin with one of some characters. A
// view that has none is as it was.
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

// builder makes a view of another one.
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

// add adds what a part of the other view means.
func (b *builder) add(meant string, from, to int) {
	b.grow()
	source := b.of.source(from, to)
	b.text = append(b.text, meant...)
	for range len(meant) {
		b.from, b.to = append(b.from, int32(source.from)), append(b.to, int32(source.to))
	}
}

// copy adds a part of the other view as it is.
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
