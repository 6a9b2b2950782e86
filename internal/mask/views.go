// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package mask

import "strings"

// maxWritings is how many writings within each other are taken back: JSON in JSON, a
// password in a URL in JSON, a header of HTTP in JSON.
const maxWritings = 2

// view is a text with a way of writing taken back, to find in it what each program
// writes in its own way.
type view struct {
	text string
	// from and to are, for each byte, where what it was written as is in the source.
	// Nil is where it is here.
	from, to []int
	// isGuess says that it may be no text at all: any word can be read as base64.
	isGuess bool
}

// source is the part of the source that a part of the view is of.
func (v view) source(from, to int) span {
	if v.from == nil {
		return span{from, to}
	}
	return span{v.from[from], v.to[to-1]}
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
			for _, w := range writings() {
				if read := v.take(w); len(read.text) > 0 && !known[read.text] {
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

// take takes a way of writing back. A view without its sign is as it was.
func (v view) take(w writing) view {
	switch {
	case !strings.Contains(v.text, w.sign):
		return v
	case w.escape != nil:
		return v.decode(w.starts, w.escape)
	}
	return v.fromBase64(w.offset)
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
	from, to []int
}

func (b *builder) grow() {
	if b.text == nil {
		size := len(b.of.text)
		b.text, b.from, b.to = make([]byte, 0, size), make([]int, 0, size), make([]int, 0, size)
	}
}

// add adds what a part of the other view means.
func (b *builder) add(meant string, from, to int) {
	b.grow()
	source := b.of.source(from, to)
	b.text = append(b.text, meant...)
	for range len(meant) {
		b.from, b.to = append(b.from, source.from), append(b.to, source.to)
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
	for at := from; at < to; at++ {
		b.from, b.to = append(b.from, at), append(b.to, at+1)
	}
}

func (b *builder) view() view {
	return view{text: string(b.text), from: b.from, to: b.to, isGuess: b.of.isGuess}
}
