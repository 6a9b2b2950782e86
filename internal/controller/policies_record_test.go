// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"fmt"
	"testing"

	. "github.com/onsi/gomega"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/observe"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

func TestPolicySetsThatTheStatusHasNoRoomForAreNamed(t *testing.T) {
	g := NewWithT(t)
	todo := run.Run{}
	for i := range v1.MaxPolicySets + 1 {
		set := fmt.Sprintf("set-%03d", i)
		todo.Policies = append(todo.Policies, run.PolicyPack{Set: set, Name: "a"}, run.PolicyPack{Set: set, Name: "b"})
	}
	recorded, err := policiesOf(&observe.Observation{}, todo, launch{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(recorded.Sets).To(HaveLen(v1.MaxPolicySets))
	g.Expect(setsLeftOut(todo, recorded)).To(Equal([]string{"set-064"}))
	g.Expect(setsLeftOut(run.Run{}, nil)).To(BeEmpty())
}
