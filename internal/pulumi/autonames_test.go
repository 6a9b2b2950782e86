// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"testing"

	. "github.com/onsi/gomega"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
)

// The texts are what frand 1.4.2 makes of this seed, which the SDK of most providers has.
func TestTheRandomCharactersOfASeedAreKnown(t *testing.T) {
	g := NewWithT(t)
	texts := randomTexts([]byte("seed"))
	g.Expect(texts).To(ContainElements(
		"b172da4f896609e6fe2c01037e90f344bcb5b1ab2a276a5418cc2f5526e87e2a",
		"b172da4f-8966-09e6-fe2c-01037e90f344",
		"1ec836c14f8e3f3845577ed3bc41c8adfbc2a39f1be8ce71aa4ebb51006880c2",
		"bk2m1s6ra92op9pye3flhcvh1ua3uykj5l64gtv9vdcmm05zksuk1hz3ui0m2y64",
	))
	name, err := resource.NewUniqueName([]byte("seed"), "", maxRandom, 0, nil)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(texts).To(ContainElement(name), "of the SDK that this is built with")
}

func TestTheRandomPartOfANameIsFound(t *testing.T) {
	const random = "1ec836c14f8e3f38"
	for name, test := range map[string]struct{ text, want string }{
		"at the end":                     {"bucket-1ec836c1", "1ec836c1"},
		"as the bridge makes it":         {"bucket-1ec836c", "1ec836c"},
		"in the middle":                  {"arn:bucket-1ec836c1/x", "1ec836c1"},
		"few characters of a name":       {"bucket-1ec8", "bucket-1ec8"},
		"few characters at the begin":    {"1ec8-bucket", ""},
		"fewer":                          {"bucket-1ec", ""},
		"others first":                   {"1ec8-1ec836c1", "1ec836c1"},
		"none":                           {"bucket-abcdef01", ""},
		"few of what JSON has to escape": {"\"bucket\" 1ec8", ""},
		"alone":                          {"1ec8", ""},
	} {
		NewWithT(t).Expect(randomPart(test.text, random)).To(Equal(test.want), name)
	}
}
