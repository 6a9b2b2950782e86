// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package main

import "slices"

// median of the values: the middle one, or the mean of the two in the middle.
// That of no values is 0.
func median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	return (sorted[middle-1] + sorted[middle]) / 2
}

// percentile is the smallest of the values that as many per cent of them do not
// exceed. That of no values is 0.
func percentile(values []float64, percent int) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	rank := (len(sorted)*percent + 99) / 100 // rounded up
	return sorted[max(rank, 1)-1]
}

// ratios divides pairwise.
func ratios(numerators, denominators []float64) []float64 {
	out := make([]float64, 0, len(numerators))
	for i := range min(len(numerators), len(denominators)) {
		if denominators[i] != 0 {
			out = append(out, numerators[i]/denominators[i])
		}
	}
	return out
}
