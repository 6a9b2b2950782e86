// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"testing"

	. "github.com/onsi/gomega"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
)

func TestEmptyNamesInPaths(t *testing.T) {
	for _, test := range []struct {
		path resource.PropertyPath
		want string
	}{
		{resource.PropertyPath{"tags", ""}, `tags[""]`},
		{resource.PropertyPath{"tags", "", "x"}, `tags[""].x`},
		{resource.PropertyPath{"tags", "", "", "x"}, `tags[""][""].x`},
		{resource.PropertyPath{"tags", "a..b"}, `tags["a..b"]`},
		{resource.PropertyPath{"tags", `a"..`, ""}, `tags["a\".."][""]`},
		{resource.PropertyPath{"rules", 3, "port"}, "rules[3].port"},
	} {
		g := NewWithT(t)
		written := withEmptyNames(test.path.String())
		g.Expect(written).To(Equal(test.want))
		g.Expect(elementsOf(written)).To(Equal(test.path))
	}
	for _, noPath := range []string{"", ".", `["`, "a.[0]", "."} {
		NewWithT(t).Expect(withEmptyNames(noPath)).To(Equal(noPath), "what Pulumi does not write")
	}
}
