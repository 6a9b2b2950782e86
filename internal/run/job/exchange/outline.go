// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package exchange

// Outline is what whoever looks at many Secrets keeps of the data of one: what a pod has
// Told, its Claim, and that there is a result. It is neither the run, which is secret, nor
// what is larger than anybody makes it, of which there is but a byte that says so.
func Outline(data map[string][]byte) map[string][]byte {
	outline := make(map[string][]byte)
	for key, most := range map[string]int{ClaimKey: maxClaim, ToldKey: maxTold, ResultKey: 0} {
		switch value := data[key]; {
		case len(value) > most:
			outline[key] = []byte{0}
		case len(value) > 0:
			outline[key] = value
		}
	}
	return outline
}
