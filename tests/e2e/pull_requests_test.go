// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"strings"
	"testing"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
	"github.com/flux-pulumi/pulumi-controller/tests/sources"
)

// with is the program of the example with another text in place of one that it has.
func (r *reviewed) with(old, replacement string) string {
	r.test.Helper()
	r.Expect(r.program).To(ContainSubstring(old))
	return strings.ReplaceAll(r.program, old, replacement)
}

// TestAPullRequestShowsWhatItChanges follows a pull request on GitHub from its opening to its end, and looks at what reviewers see
// after each push.
func TestAPullRequestShowsWhatItChanges(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	u := newReviewed(t, github())
	kept := u.kept()

	p := u.opens("feature", u.with("443", "8443"))
	u.looks()
	u.Expect(u.stacksOfPreviews()).To(BeEmpty(), "it has no label")
	u.labels(p)
	u.looks()
	u.awaitComment(p, "1 to update", "8443", p.commit)
	u.awaitVerdict(p.commit, "success")
	u.Expect(u.stacksOfPreviews()).To(HaveLen(1))

	replaced := u.pushes(p, u.files(u.with("Web servers", "All servers")))
	u.looks()
	text := u.awaitComment(p, "1 to replace", "All servers", replaced)
	u.Expect(text).NotTo(ContainSubstring("8443"))
	u.awaitVerdict(replaced, "success")

	mended := u.pushes(p, u.files(u.program))
	u.looks()
	u.awaitComment(p, "No changes", mended)
	u.awaitVerdict(mended, "success")

	for _, files := range []sources.Files{{"README.md": "About."}, {}} {
		same := u.pushes(p, files)
		u.looks()
		u.awaitComment(p, "No changes", same)
		u.awaitVerdict(same, "success")
	}

	broken := u.pushes(p, u.files(u.with("aws:ec2:SecurityGroup", "aws:ec2:SecurityGrup")))
	u.looks()
	u.awaitComment(p, "SecurityGrup", broken)
	u.awaitVerdict(broken, "failure")

	working := u.pushes(p, u.files(u.with("443", "9443")))
	u.looks()
	text = u.awaitComment(p, "9443", working)
	u.Expect(text).NotTo(ContainSubstring("SecurityGrup"))
	u.awaitVerdict(working, "success")
	u.Expect(u.kept()).To(Equal(kept), "previews change nothing")

	u.forcePushes(p, replaced)
	text = u.awaitComment(p, "1 to replace", "All servers", replaced)
	u.Expect(text).NotTo(ContainSubstring("9443"))
	u.awaitVerdict(replaced, "success")

	u.forge.set(p.number, func(p *pull) { p.labels = nil })
	u.looks()
	u.leavesNothing(p)
	unlabelled := u.pushes(p, u.files(u.with("443", "7443")))
	u.looks()
	u.Expect(u.stacksOfPreviews()).To(BeEmpty())
	u.Expect(u.awaitComment(p, "All servers")).NotTo(ContainSubstring("7443"), "it stays as it was")
	u.Expect(u.forge.of(unlabelled)).To(BeEmpty())
	u.labels(p)
	u.looks()
	u.awaitComment(p, "7443", unlabelled)
	u.awaitVerdict(unlabelled, "success")

	u.closes(p)
	u.looks()
	u.leavesNothing(p)
	u.Expect(u.forge.on(p.number)).To(HaveLen(1))
	u.Expect(u.kept()).To(Equal(kept))
}

// TestPullRequestsOfOneStackAreToldApart: each has its own comment, digest and statuses. One of another directory changes nothing,
// and what an author writes into a pull request reaches neither a template nor a comment.
func TestPullRequestsOfOneStackAreToldApart(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	u := newReviewed(t, github())
	one, two, other := u.opens("one", u.with("443", "8443")), u.opens("two", u.with("443", "9443")), u.opens("other", u.program)
	u.pushes(other, sources.Files{"database/Pulumi.yaml": u.with("443", "5432")})
	for _, p := range []*pull{one, two, other} {
		u.labels(p)
	}
	u.looks()
	first, second := u.awaitComment(one, "8443", one.commit), u.awaitComment(two, "9443", two.commit)
	u.Expect(first).NotTo(ContainSubstring("9443"))
	u.Expect(second).NotTo(ContainSubstring("8443"))
	u.Expect(u.digestIn(first)).NotTo(Equal(u.digestIn(second)))
	u.Expect(u.awaitComment(other, "No changes", other.commit)).NotTo(ContainSubstring("5432"))
	for _, p := range []*pull{one, two, other} {
		u.awaitVerdict(p.commit, "success")
		u.Expect(u.forge.on(p.number)[0].text()).NotTo(ContainSubstring("@everyone"))
	}

	u.closes(one)
	u.looks()
	u.leavesNothing(one)
	u.Expect(u.stacksOfPreviews()).To(HaveLen(2))
	u.Expect(u.awaitComment(two, "9443")).To(Equal(second), "the end of one is not about the others")

	const canary = "canary-of-a-reviewer-77f1"
	hidden := u.pushes(two, u.files(u.with("Web servers", "{fn::secret: "+canary+"}")))
	u.looks()
	u.Expect(u.awaitComment(two, "[secret]", hidden)).NotTo(ContainSubstring(canary))
}

// TestACommitThatIsNotPreviewedSaysSo, when the Stack refuses the preview before its program is looked at.
func TestACommitThatIsNotPreviewedSaysSo(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	u := newReviewed(t, github())
	edit(u.tenant, u.stack, func(s *v1.Stack) { s.Spec.Backend, s.Spec.Suspend = "file:///elsewhere", true })
	p := u.opens("feature", u.with("443", "8443"))
	u.labels(p)
	u.looks()
	u.awaitComment(p, "spec.backend must be that of the Stack")
	u.awaitVerdict(p.commit, "failure")
	again := u.pushes(p, u.files(u.with("443", "9443")))
	u.looks()
	u.awaitVerdict(again, "failure")
	u.awaitComment(p, "spec.backend must be that of the Stack", again)

	edit(u.tenant, u.stack, func(s *v1.Stack) { s.Spec.Backend = u.backendURL() })
	u.awaitComment(p, "9443", again)
	u.awaitVerdict(again, "success")
}

// stacksOfPreviews are the Stacks that flux-operator has made.
func (r *reviewed) stacksOfPreviews() []v1.Stack {
	r.test.Helper()
	var stacks v1.StackList
	r.Expect(r.List(r.ctx, &stacks, client.InNamespace(r.previews.namespace))).To(Succeed())
	return stacks.Items
}

// leavesNothing waits until all that was made for a pull request is gone. What Kubernetes collects, of which there is nothing
// here, has to belong to its Stack.
func (r *reviewed) leavesNothing(p *pull) {
	r.test.Helper()
	r.awaitGone(r.preview(p))
	source := &sourcev1.GitRepository{}
	source.Name, source.Namespace = r.preview(p).Name, r.previews.namespace
	r.awaitGone(source)
	var details corev1.ConfigMapList
	r.Expect(r.List(r.ctx, &details, client.InNamespace(r.previews.namespace))).To(Succeed())
	for _, kept := range details.Items {
		if strings.HasPrefix(kept.Name, r.preview(p).Name) {
			r.Expect(kept.OwnerReferences).To(ConsistOf(And(HaveField("Kind", v1.StackKind), HaveField("Name", r.preview(p).Name))), kept.Name)
		}
	}
}
