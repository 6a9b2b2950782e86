// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	. "github.com/onsi/gomega"
)

func TestParse(t *testing.T) {
	for name, tc := range map[string]struct {
		args []string
		err  string
	}{
		"the defaults are allowed":     {nil, ""},
		"no stack at all is refused":   {[]string{"--stacks=0"}, "--stacks"},
		"too many stacks are refused":  {[]string{"--stacks=1001"}, "--stacks"},
		"no place to run is refused":   {[]string{"--parallel=0"}, "--parallel"},
		"fewer than none is refused":   {[]string{"--rounds=-1"}, "--rounds"},
		"no comparison is allowed":     {[]string{"--rounds=0"}, ""},
		"no sample at all is refused":  {[]string{"--samples=0"}, "--samples"},
		"a scale of none is refused":   {[]string{"--scale=0"}, "-scale"},
		"a scale of words is refused":  {[]string{"--scale=100,many"}, "many"},
		"a scale twice is refused":     {[]string{"--scale=100,100"}, "twice"},
		"a blink is refused":           {[]string{"--idle=1s"}, "--idle"},
		"no language is allowed":       {[]string{"--languages="}, ""},
		"one language is allowed":      {[]string{"--languages=go"}, ""},
		"another language is refused":  {[]string{"--languages=go,cobol"}, `"cobol" is neither typescript nor go`},
		"a language twice is refused":  {[]string{"--languages=go,go"}, "twice"},
		"no round of one is refused":   {[]string{"--language-rounds=0"}, "--language-rounds"},
		"no stack of one is refused":   {[]string{"--language-stacks=0"}, "--language-stacks"},
		"no time at all is refused":    {[]string{"--timeout=0s"}, "--timeout"},
		"no wait for quiet is allowed": {[]string{"--quiet=0s"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			_, err := parse(tc.args)
			if tc.err == "" {
				g.Expect(err).NotTo(HaveOccurred())
				return
			}
			g.Expect(err).To(MatchError(ContainSubstring(tc.err)))
		})
	}
}

func TestParseScale(t *testing.T) {
	for name, tc := range map[string]struct {
		args []string
		want []int
	}{
		"there are three by default": {nil, []int{100, 300, 1000}},
		"others take its place":      {[]string{"--scale=7,3"}, []int{7, 3}},
		"it can be left out":         {[]string{"--scale="}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			o, err := parse(tc.args)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(o.scale).To(Equal(tc.want))
		})
	}
}
