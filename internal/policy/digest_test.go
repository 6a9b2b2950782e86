// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/policy"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

func TestDigest(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*run.PolicyPack)
		same   bool
	}{
		"the URL makes no difference":                  {func(p *run.PolicyPack) { p.Artifact.URL = "http://elsewhere/a" }, true},
		"nor does the revision":                        {func(p *run.PolicyPack) { p.Revision = "main@sha1:b" }, true},
		"nor does the enforcement":                     {func(p *run.PolicyPack) { p.Enforced = false }, true},
		"nor does another way to write the directory":  {func(p *run.PolicyPack) { p.Artifact.Dir = "./aws/" }, true},
		"the content of the artifact makes one":        {func(p *run.PolicyPack) { p.Artifact.Digest = "sha256:b" }, false},
		"so does the directory":                        {func(p *run.PolicyPack) { p.Artifact.Dir = "gcp" }, false},
		"so does the config":                           {func(p *run.PolicyPack) { p.Config = []byte(`{"all":{}}`) }, false},
		"so does the name, with which violations come": {func(p *run.PolicyPack) { p.Name = "b" }, false},
		"so does the name of the PolicySet":            {func(p *run.PolicyPack) { p.Set = "b" }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := NewWithT(t)
			pack, other := packOf("set", "a"), packOf("set", "a")
			test.change(&other)
			before, err := policy.Digest([]run.PolicyPack{pack})
			g.Expect(err).NotTo(HaveOccurred())
			after, err := policy.Digest([]run.PolicyPack{other})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(before == after).To(Equal(test.same))
		})
	}
}

func TestDigestOfNoPacks(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	digest, err := policy.Digest(nil)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(digest).To(BeEmpty())
}

func TestPacksOfASetAndEnforcedOnes(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	warned := packOf("warns", "b")
	warned.Enforced = false
	packs := []run.PolicyPack{packOf("set", "a"), warned, packOf("set", "c")}
	g.Expect(policy.OfSet(packs, "set")).To(Equal([]run.PolicyPack{packs[0], packs[2]}))
	g.Expect(policy.OfSet(packs, "other")).To(BeEmpty())
	g.Expect(policy.Enforced(packs)).To(Equal([]run.PolicyPack{packs[0], packs[2]}))
}

func packOf(set, name string) run.PolicyPack {
	return run.PolicyPack{
		Set: set, Name: name, Revision: "main@sha1:a", Enforced: true,
		Artifact: run.Artifact{URL: "http://source-controller/a", Digest: "sha256:a", Dir: "aws"},
		Config:   []byte(`{"all":{"enforcementLevel":"mandatory"}}`),
	}
}
