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
		"no round is refused":          {[]string{"--rounds=0"}, "--rounds"},
		"a blink is refused":           {[]string{"--idle=1s"}, "--idle"},
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
