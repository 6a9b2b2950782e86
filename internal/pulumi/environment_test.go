// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"os"
	"strconv"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// TestAUserWithoutAnEntryHasAName looks for what Pulumi names the user of its locks by
// where /etc/passwd does not know it: tests/image has such a user.
func TestAUserWithoutAnEntryHasAName(t *testing.T) {
	g := NewWithT(t)
	g.Expect((&Driver{}).environment("/run", run.Run{})).To(ContainElement("USER=" + strconv.Itoa(os.Getuid())))
	g.Expect((&Driver{}).environment("/run", run.Run{Env: map[string]string{"USER": "me"}})).To(ContainElement("USER=me"), "what a Stack sets counts")
}
