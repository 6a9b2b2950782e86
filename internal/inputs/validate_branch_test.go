// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package inputs

import (
	"testing"

	. "github.com/onsi/gomega"
)

func TestBranchNamesFollowGit(t *testing.T) {
	g := NewWithT(t)
	for _, name := range []string{"main", "refs/heads/main", "feature/a-b_c", "v1.2", "a@b", "a@", "ä", "a#b", "a{b}", "x.locked"} {
		g.Expect(isRefName(name)).To(BeTrue(), name)
	}
	for _, name := range []string{
		"", "a..b", "a b", "a~1", "a^", "a:b", "a?", "a*", "a[b", `a\b`, "/a", "a/", "a//b", ".a", "a/.b", "a.lock", "a.lock/b", "a.", "@", "a@{1}", "a\tb", "a\x7f", "-a",
	} {
		g.Expect(isRefName(name)).To(BeFalse(), "%q", name)
	}
}
