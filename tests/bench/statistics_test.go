// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	. "github.com/onsi/gomega"
)

func TestMedian(t *testing.T) {
	for name, tc := range map[string]struct {
		values []float64
		want   float64
	}{
		"there is none without values":                           {nil, 0},
		"one value is its own median":                            {[]float64{3}, 3},
		"an odd number has a middle, in whatever order they are": {[]float64{9, 1, 4}, 4},
		"an even number has the mean of the two in the middle":   {[]float64{4, 1, 9, 2}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			before := append([]float64(nil), tc.values...)
			g.Expect(median(tc.values)).To(Equal(tc.want))
			g.Expect(tc.values).To(Equal(before), "the rounds stay in order")
		})
	}
}

func TestRatios(t *testing.T) {
	for name, tc := range map[string]struct {
		numerators, denominators, want []float64
	}{
		"each is divided by the one of the same round": {[]float64{3, 8}, []float64{2, 4}, []float64{1.5, 2}},
		"a division by nothing is left out":            {[]float64{3, 8}, []float64{0, 4}, []float64{2}},
		"a round that one side lacks is left out":      {[]float64{3}, []float64{2, 4}, []float64{1.5}},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(ratios(tc.numerators, tc.denominators)).To(Equal(tc.want))
		})
	}
}

func TestPercentile(t *testing.T) {
	var hundred []float64
	for n := range 100 {
		hundred = append(hundred, float64(100-n))
	}
	for name, tc := range map[string]struct {
		values  []float64
		percent int
		want    float64
	}{
		"there is none without values":                          {nil, 95, 0},
		"one value is every percentile":                         {[]float64{3}, 95, 3},
		"the half that is not above it":                         {hundred, 50, 50},
		"a value that was measured, and none in between":        {[]float64{4, 1, 9, 2}, 50, 2},
		"the smallest that is large enough":                     {hundred, 95, 95},
		"of few values the largest":                             {[]float64{4, 1, 9, 2}, 95, 9},
		"of twenty the last but one, since 95 % are 19 of them": {hundred[:20], 95, 99},
		"no per cent is the smallest":                           {[]float64{4, 1, 9, 2}, 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(percentile(tc.values, tc.percent)).To(Equal(tc.want))
		})
	}
}
