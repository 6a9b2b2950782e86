// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package publish

import (
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/types"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

func TestUnwrittenInventoriesAreBounded(t *testing.T) {
	text := strings.Repeat("x", maxUnwritten/2)
	for name, big := range map[string]run.Inventory{
		"many resources": {Complete: true, Resources: make([]run.Resource, maxUnwritten/64)},
		"many gone ones": {Complete: true, Gone: make([]string, maxUnwritten/64)},
		"large URNs":     {Complete: true, Resources: []run.Resource{{URN: text}, {URN: text}}},
		"large IDs":      {Complete: true, Resources: []run.Resource{{ID: text}, {ID: text}}},
		"large parents":  {Complete: true, Resources: []run.Resource{{Parent: text}, {Type: text}}},
		"large gone":     {Complete: true, Gone: []string{text, text}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
			first := []run.Resource{{URN: "urn:pulumi:dev::app::lab:index:Thing::a"}}
			var kept Unwritten
			key, other := types.NamespacedName{Namespace: "default", Name: "app"}, types.NamespacedName{Name: "other"}
			kept.keep(key, []run.Inventory{{Resources: first}}, at)
			g.Expect(kept.RetryAt(key)).To(Equal(at))
			kept.keep(other, []run.Inventory{big}, at)
			g.Expect(kept.of(other)).To(Equal([]run.Inventory{{Missed: true}}))
			g.Expect(kept.of(key)).To(Equal([]run.Inventory{{Resources: first}}))
			g.Expect(kept.add(key, run.Inventory{Complete: true})).To(HaveLen(1))
			g.Expect(kept.add(key, run.Inventory{})).To(HaveLen(2))
		})
	}
}
