// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package fuzz makes structured values of the bytes that go test -fuzz gives, so
// that targets come deeper than random text does. Rules of this project, and
// values of its own types, must not be in it.
package fuzz

// Input is read choice by choice. When its bytes are used up all choices are the
// first, so that every value has an end.
type Input struct{ rest []byte }

// From reads the bytes.
func From(data []byte) *Input { return &Input{rest: data} }

// Byte is the next byte, 0 at the end.
func (in *Input) Byte() byte {
	if len(in.rest) == 0 {
		return 0
	}
	next := in.rest[0]
	in.rest = in.rest[1:]
	return next
}

// Bool is a choice between two.
func (in *Input) Bool() bool { return in.Byte()&1 == 1 }

// Below is a number from 0 to less than n, which is at most 256.
func (in *Input) Below(n int) int { return int(in.Byte()) % n }

// Int64 is any number.
func (in *Input) Int64() int64 {
	var n uint64
	for range 8 {
		n = n<<8 | uint64(in.Byte())
	}
	return int64(n)
}

// Text is any bytes, less than 256.
func (in *Input) Text() string {
	n := min(int(in.Byte()), len(in.rest))
	text := string(in.rest[:n])
	in.rest = in.rest[n:]
	return text
}

// Pick is one of the values.
func Pick[T any](in *Input, of ...T) T { return of[in.Below(len(of))] }

// List makes a list of less than n, which is at most 256, with each.
func List[T any](in *Input, n int, each func() T) []T {
	var list []T
	for range in.Below(n) {
		list = append(list, each())
	}
	return list
}
