// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math"
	"math/bits"
	randv2 "math/rand/v2"

	"github.com/google/uuid"
)

// maxRandom bounds the random characters of a name.
const maxRandom = 64

// randomBytes are enough for that many characters, each of which takes eight.
const randomBytes = 2 * 8 * maxRandom

// randomTexts are the random characters that providers take from the seed of a resource with the
// SDK, and the engine for the patterns of pulumi:autonaming. Both have the package frand for
// that, which has another generator since version 1.5. Providers have either.
func randomTexts(seed []byte) []string {
	sum := sha256.Sum256(seed)
	since := make([]byte, randomBytes)
	_, _ = randv2.NewChaCha8(sum).Read(since) // never fails
	return append(textsOf(chaCha12(sum)), textsOf(since)...)
}

func textsOf(random []byte) []string {
	id, _ := uuid.FromBytes(random[:16]) // fails only for another length
	texts := []string{hex.EncodeToString(random[:maxRandom/2]), id.String()}
	const digits, letters = "0123456789", "abcdefghijklmnopqrstuvwxyz"
	for _, characters := range []string{digits + "abcdef", letters + digits, digits + letters, letters, digits} {
		texts = append(texts, pickCharacters(random, characters))
	}
	return texts
}

// pickCharacters picks characters by the random numbers, without those that would prefer some characters.
func pickCharacters(random []byte, characters string) string {
	count := uint64(len(characters))
	text := make([]byte, 0, maxRandom)
	for ; len(text) < maxRandom && len(random) >= 8; random = random[8:] {
		if number := binary.LittleEndian.Uint64(random); number < math.MaxUint64-math.MaxUint64%count {
			text = append(text, characters[number%count])
		}
	}
	return string(text)
}

// chaCha12 is the key stream of ChaCha with twelve rounds and a nonce of zeros. Its first 32 bytes
// are left out: frand keeps them as its next key.
func chaCha12(key [32]byte) []byte {
	var input [16]uint32
	copy(input[:], []uint32{0x61707865, 0x3320646e, 0x79622d32, 0x6b206574})
	for n := range 8 {
		input[4+n] = binary.LittleEndian.Uint32(key[4*n:])
	}
	var stream []byte
	for ; len(stream) < len(key)+randomBytes; input[12]++ {
		x := input
		for range 12 / 2 {
			for column := range 4 {
				quarterRound(&x, column, 4+column, 8+column, 12+column)
			}
			for diagonal := range 4 {
				quarterRound(&x, diagonal, 4+(diagonal+1)%4, 8+(diagonal+2)%4, 12+(diagonal+3)%4)
			}
		}
		for n := range x {
			stream = binary.LittleEndian.AppendUint32(stream, x[n]+input[n])
		}
	}
	return stream[len(key):]
}

func quarterRound(x *[16]uint32, a, b, c, d int) {
	x[a] += x[b]
	x[d] = bits.RotateLeft32(x[d]^x[a], 16)
	x[c] += x[d]
	x[b] = bits.RotateLeft32(x[b]^x[c], 12)
	x[a] += x[b]
	x[d] = bits.RotateLeft32(x[d]^x[a], 8)
	x[c] += x[d]
	x[b] = bits.RotateLeft32(x[b]^x[c], 7)
}
