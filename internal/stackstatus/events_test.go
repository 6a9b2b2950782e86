// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package stackstatus

import (
	"testing"

	. "github.com/onsi/gomega"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

func TestRevisionsOfSomeSourcesAreCommits(t *testing.T) {
	from := func(kind string) v1.StackSpec {
		return v1.StackSpec{FluxSource: &v1.FluxSource{SourceRef: v1.SourceReference{Kind: kind}}}
	}
	for name, tc := range map[string]struct {
		spec v1.StackSpec
		want bool
	}{
		"a repository":                   {from("GitRepository"), true},
		"an image, which may tell whose": {from("OCIRepository"), true},
		"what others have made":          {from("ExternalArtifact"), true},
		"a repository of its own":        {v1.StackSpec{GitSource: v1.GitSource{ProjectRepo: "https://example.com/a"}}, true},
		"a bucket":                       {from("Bucket"), false},
		"a Program":                      {v1.StackSpec{ProgramRef: &v1.ProgramReference{Name: "a"}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(hasCommits(&tc.spec)).To(Equal(tc.want))
		})
	}
}

func TestAPreviewOnRequestWhoseArtifactIsGoneSaysOnlyThat(t *testing.T) {
	stack := stackWithRun(v1.OperationPreview)
	stack.Status.Run.PreviewRequest = "now"
	gone := result(run.ArtifactGone, "it is gone (404)")
	NewWithT(t).Expect(Classify(stack, stack.Status.Run, gone).Message).To(Equal("it is gone (404)"), "no run of it is next")
}

func TestTheNamesOfForgottenCreationsAreBounded(t *testing.T) {
	g := NewWithT(t)
	urns := make([]string, 1000)
	for i := range urns {
		urns[i] = "urn:pulumi:dev::app::lab:index:Thing::a"
	}
	message := ForgottenEvent(urns).Message
	g.Expect(len(message)).To(BeNumerically("<", 1024))
	g.Expect(message).To(HaveSuffix(" and 983 more, listed in the log"))
}
