// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"testing"

	. "github.com/onsi/gomega"
)

// Which of the first two Pulumi reports depends on which of its reads the end of the host meets.
func TestACrashOfTheHostOfACompiledProgramIsRecognized(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"failed to discover package requirements: rpc error: code = Unavailable desc = error reading from server: EOF":        true,
		"failed to discover package requirements: error reading from server: connection reset by peer":                        true,
		"failed to discover package requirements: error reading from server: read tcp a->b: read: connection reset by peer":   true,
		"warning: old\nerror: failed to discover package requirements: error reading from server: connection reset by peer\n": true,
		"failed to discover package requirements: Pulumi.yaml:5,15-23: the argument to fn::join must be a two-valued list":    false,
		"error reading from server: EOF": false,
	} {
		NewWithT(t).Expect(isHostCrash(text)).To(Equal(want), text)
	}
}
