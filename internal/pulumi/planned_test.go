// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/mask"
)

// The config of a default provider decides where resources are made, and has no step in a plan.
func TestTheConfigOfAProviderIsAnInputOfThePlan(t *testing.T) {
	g := NewWithT(t)
	inputs := func(line string) string {
		e := events{mask: mask.New(nil)}
		e.read([]byte(line))
		return e.plugins.inputs(valueReader{key: []byte("key")}, nil, "inputs")
	}
	of := func(region string) string {
		return inputs(`{"resourcePreEvent":{"metadata":{"op":"same","urn":"urn:pulumi:dev::app::pulumi:providers:aws::default_7_0_0",` +
			`"type":"pulumi:providers:aws","new":{"inputs":{"region":"` + region + `","version":"7.0.0"}}}}}`)
	}
	g.Expect(of("eu-west-1")).To(Equal(of("eu-west-1")))
	g.Expect(of("eu-west-1")).NotTo(Equal(of("us-east-1")))
}
