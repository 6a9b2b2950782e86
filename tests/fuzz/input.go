// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package fuzz turns the bytes of go test -fuzz into structured values, so that
// targets get deeper than random text does. It must not contain rules or types of
// this project.
package fuzz

// Input is read one choice at a time. When its bytes run out, every choice is the
// first one, so that every value is finite.
type Input struct{ rest []byte }

// From returns an Input that reads data.
func From(data []byte) *Input { return &Input{rest: data} }

// Byte returns the next byte, or 0 at the end.
func (in *Input) Byte() byte {
	if len(in.rest) == 0 {
		return 0
	}
	next := in.rest[0]
	in.rest = in.rest[1:]
	return next
}

// Bool returns true or false.
func (in *Input) Bool() bool { return in.Byte()&1 == 1 }

// Below returns a number from 0 to n-1. n is at most 256.
func (in *Input) Below(n int) int { return int(in.Byte()) % n }

// Int64 returns any number.
func (in *Input) Int64() int64 {
	var n uint64
	for range 8 {
		n = n<<8 | uint64(in.Byte())
	}
	return int64(n)
}

// Text returns at most 255 arbitrary bytes.
func (in *Input) Text() string {
	n := min(int(in.Byte()), len(in.rest))
	text := string(in.rest[:n])
	in.rest = in.rest[n:]
	return text
}

// Pick returns one of the values.
func Pick[T any](in *Input, of ...T) T { return of[in.Below(len(of))] }

// List returns fewer than n items made by each. n is at most 256.
func List[T any](in *Input, n int, each func() T) []T {
	var list []T
	for range in.Below(n) {
		list = append(list, each())
	}
	return list
}
