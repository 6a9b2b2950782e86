// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package history

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/bounded"
	"github.com/flux-pulumi/pulumi-controller/internal/plan"
)

func TestAnEntryNamesTheRunsThatHaveChangedSomething(t *testing.T) {
	g := NewWithT(t)
	metadata := Of("a", true, nil)
	g.Expect(metadata).To(Equal(map[string]string{"run": "a", "changedIn": "a"}))
	metadata = Of("b", false, metadata)
	g.Expect(metadata).To(Equal(map[string]string{"run": "b", "changedIn": "a"}), "what a did is not hidden")
	for _, run := range []string{"c", "d", "e", "f", "g"} {
		metadata = Of(run, true, metadata)
	}
	g.Expect(metadata).To(Equal(map[string]string{"run": "g", "changedIn": "g,f,e,d,c"}))
	g.Expect(Of("a", false, map[string]string{"operation": "update"})).To(Equal(map[string]string{"run": "a"}), "an entry of an earlier version")
	g.Expect(ChangedIn(nil)).To(BeEmpty())
	shared := map[string]string{"operation": "update", "run": "b", "changedIn": "a"}
	g.Expect(WithChange(shared, "c")).To(Equal(map[string]string{"operation": "update", "run": "b", "changedIn": "c,a"}))
	g.Expect(shared["changedIn"]).To(Equal("a"))
	g.Expect(WithChange(nil, "c")).To(Equal(map[string]string{"changedIn": "c"}))
	g.Expect(Alone("b", false, map[string]string{"operation": "update", "run": "c", "changedIn": "a", "lastChange": "d"})).To(Equal(map[string]string{"operation": "update", "run": "b"}))
	older := meta.History{{Metadata: map[string]string{"run": "d"}}, {Metadata: map[string]string{"changedIn": "c,b"}}}
	g.Expect(LastChange(older)).To(Equal("c"), "of an earlier version")
	g.Expect(LastChange(nil)).To(BeEmpty())

	g.Expect(Runs(meta.History{
		{Metadata: map[string]string{"run": "d", "changedIn": "c,b"}},
		{Metadata: map[string]string{"operation": "update"}},
		{Metadata: map[string]string{"run": "a", "changedIn": "a"}},
	})).To(Equal([]string{"d", "c", "b", "a"}))
}

// large is a plan of many random values.
func large(steps int) plan.Plan {
	var p plan.Plan
	for n := range steps {
		p.Steps = append(p.Steps, plan.Step{Op: plan.OpUpdate, URN: fmt.Sprintf("urn:pulumi:dev::app::lab:index:Thing::a%d", n), Properties: []plan.Property{
			{Path: "name", Kind: plan.KindUpdate, Change: plan.Change{New: json.RawMessage(`"` + rand.Text() + `"`), Digest: "sha256:1"}},
		}})
	}
	return p
}

func TestAChangeIsKeptAndBounded(t *testing.T) {
	g := NewWithT(t)
	at := time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC)
	data, err := Encode(Change{EndedAt: at, Approved: "sha256:2", ApprovedBy: "jane", Plan: large(3)})
	g.Expect(err).NotTo(HaveOccurred())
	read, err := Decode(data)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(read.EndedAt).To(Equal(at))
	g.Expect(read.Approved + read.ApprovedBy).To(Equal("sha256:2jane"))
	g.Expect(read.Plan.Steps).To(HaveLen(3))
	g.Expect(read.Plan.Steps[0].Properties[0].Digest).To(BeEmpty())

	data, err = Encode(Change{EndedAt: at, Plan: large(10_500)})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(len(data)).To(BeNumerically("<=", maxOne))
	read, err = Decode(data)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(read.Plan.Counts()).To(Equal(plan.Counts{Update: 10_500}), "what does not fit is counted")
	g.Expect(read.Plan.Steps).NotTo(BeEmpty())

	_, err = Decode([]byte("no gzip"))
	g.Expect(err).To(MatchError(HavePrefix("reading what the run has changed: ")))
	forged, _, err := bounded.Pack(map[string]any{"plan": map[string]any{"steps": make([]plan.Step, 150_000)}})
	g.Expect(err).NotTo(HaveOccurred())
	_, err = Decode(forged)
	g.Expect(err).To(MatchError(ContainSubstring("more than")))
}
