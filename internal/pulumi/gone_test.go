// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"testing"

	. "github.com/onsi/gomega"
)

// The texts are gRPC's. Pulumi v3.259.0 reported the second one when the lab provider
// was killed.
func TestAProviderThatIsGoneIsRecognized(t *testing.T) {
	for text, want := range map[string]bool{
		`rpc error: code = Unavailable desc = error reading from server: EOF`:                                                 true,
		`error: error reading from server: EOF`:                                                                               true,
		`error reading from server: read tcp 127.0.0.1:40914->127.0.0.1:40107: read: connection reset by peer`:                true,
		`rpc error: code = Unavailable desc = closing transport due to: connection error: desc = "error reading from server"`: true,
		`transport is closing`: true,
		`connection error: desc = "transport: Error while dialing: dial tcp 127.0.0.1:40107: connect: connection refused"`: false,
		`rpc error: code = Unavailable desc = connection error: desc = "transport: Error while dialing: dial tcp"`:         false,
		`the bucket is unavailable`: false,
	} {
		NewWithT(t).Expect(isProviderGone(text)).To(Equal(want), text)
	}
}
