// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/mask"
)

// The config of a default provider decides where resources are made, and has no step in a plan.
func TestTheConfigOfAProviderIsAnInputOfThePlan(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ providers, size int }{
		"small":     {providers: 1},
		"too large": {providers: 40, size: 1 << 19},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := NewWithT(t)
			padding := strings.Repeat("x", test.size)
			of := func(region string, reversed bool) string {
				var lines []string
				for n := range test.providers {
					lines = append(lines, fmt.Sprintf(`{"resourcePreEvent":{"metadata":{"op":"same","urn":"urn:pulumi:dev::app::pulumi:providers:aws::default_%d",`+
						`"type":"pulumi:providers:aws","new":{"inputs":{"region":"%s","padding":"%s","version":"7.0.0"}}}}}`, n, region, padding))
				}
				if reversed {
					slices.Reverse(lines)
				}
				e := events{mask: mask.New(nil)}
				e.plugins.configs = &providerConfigs{read: valueReader{key: []byte("key")}}
				kept := 0
				for _, line := range lines {
					e.read([]byte(line))
				}
				for _, inputs := range e.plugins.configs.byURN {
					kept += len(inputs)
				}
				g.Expect(kept).To(BeNumerically("<=", maxKeptConfigs))
				return e.plugins.configs.sum(nil, "inputs")
			}
			first := of("eu-west-1", false)
			g.Expect(of("eu-west-1", true)).To(Equal(first), "whatever the order")
			g.Expect(of("us-east-1", false)).NotTo(Equal(first))
		})
	}
}

func TestTheVersionOfAProviderIsKnownWithoutAPlan(t *testing.T) {
	t.Parallel()
	e := events{mask: mask.New(nil)}
	e.read([]byte(`{"resourcePreEvent":{"metadata":{"op":"same","urn":"urn","type":"pulumi:providers:aws","new":{"inputs":{"version":"7.0.0"}}}}}`))
	NewWithT(t).Expect(e.plugins.versions()).To(HaveKeyWithValue("aws", "7.0.0"))
}
