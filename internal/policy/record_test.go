// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"fmt"
	"testing"

	. "github.com/onsi/gomega"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

func TestPolicySetsThatTheStatusHasNoRoomForAreNamed(t *testing.T) {
	g := NewWithT(t)
	var packs []run.PolicyPack
	for i := range v1.MaxPolicySets + 1 {
		set := fmt.Sprintf("set-%03d", i)
		packs = append(packs, run.PolicyPack{Set: set, Name: "a"}, run.PolicyPack{Set: set, Name: "b"})
	}
	recorded, err := Record(packs)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(recorded.Sets).To(HaveLen(v1.MaxPolicySets))
	g.Expect(LeftOut(packs, recorded)).To(Equal([]string{"set-064"}))
	g.Expect(LeftOut(nil, nil)).To(BeEmpty())
}
