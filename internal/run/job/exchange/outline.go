// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package exchange

// Outline reduces the data of a Secret to what a cache of many Secrets should keep: what
// the ProgressReport of the pod, its Claim, and whether there is a result. It drops the run, which is
// secret. It replaces a value that is larger than this package writes by one byte.
func Outline(data map[string][]byte) map[string][]byte {
	outline := make(map[string][]byte)
	for key, most := range map[string]int{ClaimKey: maxClaim, ProgressKey: maxProgress, ResultKey: 0} {
		switch value := data[key]; {
		case len(value) > most:
			outline[key] = []byte{0}
		case len(value) > 0:
			outline[key] = value
		}
	}
	return outline
}
