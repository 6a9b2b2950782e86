// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import "encoding/base64"

// maxWithin bounds a value that is looked for within the base64 of a longer text.
const maxWithin = 4 << 10

// base64Forms are a value in base64, and what there is of it in the base64 of a longer
// text, such as the header of HTTP that has a user before the password: that depends
// on how many bytes are before it, modulo three. The characters that are of a
// neighbour too are left out.
func base64Forms(value string) []string {
	var forms []string
	for _, alphabet := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
		raw := alphabet.WithPadding(base64.NoPadding)
		forms = append(forms, alphabet.EncodeToString([]byte(value)), raw.EncodeToString([]byte(value)))
		if len(value) > maxWithin {
			continue
		}
		for before := range 3 {
			const bits = 6 // of a character
			from, to := (8*before+bits-1)/bits, 8*(before+len(value))/bits
			if to-from >= maskedLine {
				padded := append(make([]byte, before), value...)
				forms = append(forms, raw.EncodeToString(padded)[from:to])
			}
		}
	}
	return forms
}
