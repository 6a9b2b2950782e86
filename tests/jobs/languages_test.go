// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
	"github.com/flux-pulumi/pulumi-controller/tests/sources"
)

// The language is that of tests/lab, whose programs need an installation before they can run. An installation that
// never ends is reported, cancelled, and leaves nothing to recover. The image is that of --runner-images: the Stack says nothing
// of it.
func TestTheDependenciesOfAProgramAreInstalledInItsPod(t *testing.T) {
	short.Skip(t)
	u := newTeam(t)
	repo, err := u.git.NewRepo(u.ctx, u.namespace)
	u.Expect(err).NotTo(HaveOccurred())
	commit := func(program string) {
		_, err := repo.Commit(u.ctx, sources.Files{"Pulumi.yaml": "name: app\nruntime: lab\n", "program.json": program}, "a commit")
		u.Expect(err).NotTo(HaveOccurred())
	}
	commit(`{"things": ["a"], "install": {"hang": true}}`)
	source := &sourcev1.GitRepository{
		ObjectMeta: metav1.ObjectMeta{Name: "app", Namespace: u.namespace},
		Spec: sourcev1.GitRepositorySpec{URL: repo.URL(), Interval: metav1.Duration{Duration: time.Second},
			Reference: &sourcev1.GitRepositoryRef{Branch: sources.Branch}},
	}
	u.Expect(u.Client().Create(u.ctx, source)).To(Succeed())
	stack := u.stack("app", func(s *v1.Stack) {
		s.Spec.ProgramRef = nil
		s.Spec.FluxSource = &v1.FluxSource{SourceRef: v1.SourceReference{APIVersion: sourcev1.GroupVersion.String(), Kind: "GitRepository", Name: "app"}}
	})
	u.await(stack, func(g Gomega, s *v1.Stack) {
		g.Expect(conditions.GetMessage(s, meta.ReadyCondition)).To(ContainSubstring(": installing the dependencies of the program after "))
	})
	u.annotate(stack, v1.CancelRunAnnotation, u.runOf(stack))
	u.await(stack, func(g Gomega, s *v1.Stack) {
		g.Expect(conditions.GetReason(s, meta.StalledCondition)).To(Equal(v1.CancelRequestedReason), conditions.GetMessage(s, meta.ReadyCondition))
	})
	u.Expect(conditions.GetMessage(stack, meta.ReadyCondition)).To(ContainSubstring("while installing the dependencies of the program: nothing was changed"))
	u.Expect(stack.Status.Interrupted).To(BeEmpty())

	commit(`{"things": ["a"]}`)
	u.await(stack, func(g Gomega, s *v1.Stack) {
		g.Expect(conditions.IsReady(s)).To(BeTrue(), conditions.GetMessage(s, meta.ReadyCondition))
		g.Expect(string(s.Status.Outputs["installed"].Raw)).To(Equal("1"))
	})
	u.Expect(u.count("create", "done")).To(Equal(1))
	u.Expect(u.jobs()).To(HaveLen(2))
	for _, job := range u.jobs() {
		u.Expect(job.Spec.Template.Spec.Containers[0].Image).To(Equal(language), "in the first run too, when the runtime is in no status")
	}
}
