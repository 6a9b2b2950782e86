// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package exchange

import (
	"bytes"
	"testing"

	. "github.com/onsi/gomega"
)

func TestTheOutlineOfASecretIsSmallAndDecodesAlike(t *testing.T) {
	large := func(text string) []byte { return append([]byte(text), bytes.Repeat([]byte(" "), 1<<20)...) }
	const claim, report = `{"Pod":"a","UID":"b"}`, `{"Progress":{"InFlight":2}}`
	for name, tt := range map[string]struct {
		data map[string][]byte
		keys []string
	}{
		"nothing": {},
		"empty":   {data: map[string][]byte{ClaimKey: {}, ResultKey: nil}},
		"a run": {
			map[string][]byte{RunKey: large("secret"), ClaimKey: []byte(claim), ProgressKey: []byte(report), CancelKey: []byte("Now"), "else": large("")},
			[]string{ClaimKey, ProgressKey},
		},
		"an ended run":          {map[string][]byte{ResultKey: large("x"), ClaimKey: []byte(claim)}, []string{ResultKey, ClaimKey}},
		"forged and large":      {map[string][]byte{ClaimKey: large(claim), ProgressKey: large(report), ResultKey: []byte("x")}, []string{ClaimKey, ProgressKey, ResultKey}},
		"another Secret, large": {data: map[string][]byte{"a": large("a"), "b": large("b")}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			outline := Outline(tt.data)
			g.Expect(outline).To(HaveLen(len(tt.keys)))
			size := 0
			for _, key := range tt.keys {
				g.Expect(outline[key]).NotTo(BeEmpty(), key)
				size += len(outline[key])
			}
			g.Expect(size).To(BeNumerically("<=", maxClaim+maxProgress+1))
			g.Expect(DecodeClaim(outline[ClaimKey])).To(Equal(DecodeClaim(tt.data[ClaimKey])))
			g.Expect(DecodeProgress(outline[ProgressKey])).To(Equal(DecodeProgress(tt.data[ProgressKey])))
		})
	}
}
