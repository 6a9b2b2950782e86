// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"testing"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

func TestAMergeRequestOfGitLabShowsWhatItChanges(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	newReviewed(t, gitlab()).followsAPullRequest()
}

func TestAPullRequestOfGiteaShowsWhatItChanges(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	u := newReviewed(t, gitea())
	p := u.followsAPullRequest()
	// Of the three, notification-controller says only Gitea that a preview is under way.
	u.Expect(u.forge.of(p.commit)).To(ContainElement(HaveField("State", "pending")))
}

// followsAPullRequest looks at what a forge shows from the opening of a pull request to its end.
func (r *reviewed) followsAPullRequest() *pull {
	r.test.Helper()
	p := r.opens("feature", r.with("443", "8443"))
	r.looks()
	r.Expect(r.stacksOfPreviews()).To(BeEmpty(), "it has no label")
	r.labels(p)
	r.looks()
	r.awaitComment(p, "1 to update", "8443", p.commit)
	r.awaitVerdict(p.commit, "success")

	broken := r.pushes(p, r.files(r.with("aws:ec2:SecurityGroup", "aws:ec2:SecurityGrup")))
	r.looks()
	r.awaitComment(p, "SecurityGrup", broken)
	r.awaitVerdict(broken, r.forge.dialect.failed)

	mended := r.pushes(p, r.files(r.program))
	r.looks()
	r.awaitComment(p, "No changes", mended)
	r.awaitVerdict(mended, "success")
	r.closes(p)
	r.looks()
	r.leavesNothing(p)
	return p
}

// TestAForkIsNotPreviewed has a pull request with the label from a fork, whose commit is on no branch of the repository.
// source-controller does not find it, by its commit and by its ref, until it is pushed to a branch.
func TestAForkIsNotPreviewed(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	u := newReviewed(t, github())
	p := u.opensOf(u.repo.Fork, "stranger", u.with("443", "8443"))
	u.labels(p)
	u.looks()
	u.awaitNotFound(p)
	template := u.ofFluxOperator("ResourceSet", "network")
	u.takes(template, map[string]string{"name": "refs/pull/<< inputs.id >>/head"})
	u.awaitNotFound(p)
	u.takes(template, map[string]string{"commit": "<< inputs.sha >>"})
	u.Expect(u.forge.on(p.number)).To(BeEmpty())
	u.Expect(u.forge.of(p.commit)).To(BeEmpty())

	u.Expect(u.repo.SetRef(u.ctx, "refs/heads/preview-1", p.commit)).To(Succeed())
	u.previews.look(&sourcev1.GitRepository{}, u.preview(p).Name)
	u.awaitComment(p, "1 to update", "8443", p.commit)
	u.awaitVerdict(p.commit, "success")
}

// takes has the template take this ref of a pull request.
func (r *reviewed) takes(template *unstructured.Unstructured, ref map[string]string) {
	r.test.Helper()
	edit(r.tenant, template, func(o *unstructured.Unstructured) {
		resources, _, err := unstructured.NestedSlice(o.Object, "spec", "resources")
		r.Expect(err).NotTo(HaveOccurred())
		r.Expect(unstructured.SetNestedStringMap(resources[0].(map[string]any), ref, "spec", "ref")).To(Succeed())
		r.Expect(unstructured.SetNestedSlice(o.Object, resources, "spec", "resources")).To(Succeed())
	})
	r.looks()
}

// awaitNotFound waits until the source of a pull request, as it is now, is not found.
func (r *reviewed) awaitNotFound(p *pull) {
	r.test.Helper()
	r.Eventually(func(g Gomega) {
		source := &sourcev1.GitRepository{}
		g.Expect(r.Get(r.ctx, keyOf(r.preview(p)), source)).To(Succeed())
		ready := conditions.Get(source, meta.ReadyCondition)
		g.Expect(ready).NotTo(BeNil())
		g.Expect(ready.ObservedGeneration).To(Equal(source.Generation))
		g.Expect(ready.Message).To(ContainSubstring("object not found"))
	}).Should(Succeed())
}
