// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package drift

import (
	"fmt"
	"testing"

	. "github.com/onsi/gomega"
)

func TestTargetsOfACorrection(t *testing.T) {
	const a, b = "urn:pulumi:dev::app::lab:index:Thing::a", "urn:pulumi:dev::app::lab:index:Thing$lab:index:Part::b"
	var many []string
	for n := range 150 {
		many = append(many, fmt.Sprintf("urn:%03d", n))
	}
	for name, test := range map[string]struct{ drifted, targets, want []string }{
		"all, in order":             {[]string{a, b, a}, nil, []string{b, a}},
		"one that is targeted":      {[]string{a, b}, []string{a}, []string{a}},
		"a part of a name":          {[]string{a, b}, []string{"urn:pulumi:dev::app::lab:index:*::*"}, []string{a}},
		"not over the parts":        {[]string{a, b}, []string{"urn:*::a"}, nil},
		"any part":                  {[]string{a, b}, []string{"**::a"}, []string{a}},
		"a sign is only a sign":     {[]string{a}, []string{"urn.pulumi:dev::app::lab:index:Thing::*"}, nil},
		"no more than 100":          {many, nil, many[:100]},
		"none of them is targeted ": {[]string{a}, []string{b}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(Targets(test.drifted, test.targets)).To(Equal(test.want))
		})
	}
}
