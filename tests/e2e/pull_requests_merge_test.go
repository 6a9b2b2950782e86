// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	. "github.com/onsi/gomega"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
	"github.com/flux-pulumi/pulumi-controller/tests/sources"
)

// digestIn is the digest in a comment, with the words to commit.
func (r *reviewed) digestIn(comment string) string {
	r.test.Helper()
	found := regexp.MustCompile(`approved: (sha256:[0-9a-f]{64})`).FindStringSubmatch(comment)
	r.Expect(found).To(HaveLen(2), comment)
	return found[1]
}

// follows has the source of the main branch look, and the Stack have the approval that was merged.
func (r *reviewed) follows(approved string) {
	r.test.Helper()
	edit(r.tenant, r.stack, func(s *v1.Stack) { s.Spec.Approval.Approved = approved })
	r.look(&sourcev1.GitRepository{}, "infra")
}

// port is the port of the only rule in the cloud.
func (r *reviewed) port() any {
	r.test.Helper()
	rules := r.standIns()["web"].Inputs["ingress"].([]any)
	r.Expect(rules).To(HaveLen(1))
	return rules[0].(map[string]any)["fromPort"]
}

// TestWhatWasApprovedOnAPullRequestIsAppliedAfterTheMerge approves by a commit of the pull request itself, which must not be
// another change: the digest in the comment stays.
func TestWhatWasApprovedOnAPullRequestIsAppliedAfterTheMerge(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	u := newReviewed(t, github())
	p := u.opens("feature", u.with("443", "8443"))
	u.labels(p)
	u.looks()
	digest := u.digestIn(u.awaitComment(p, "8443", p.commit))
	commit := u.pushes(p, sources.Files{"stack.yaml": "approved: " + digest})
	u.looks()
	u.Expect(u.digestIn(u.awaitComment(p, "8443", commit))).To(Equal(digest))

	revision := u.merges(p)
	u.follows(digest)
	u.awaitReady(u.stack, atRevision(revision))
	u.Expect(u.stack.Status.Plan).To(And(HaveField("State", v1.PlanApplied), HaveField("Digest", digest), HaveField("ApprovedBy", "spec.approval.approved")))
	u.Expect(u.port()).To(BeEquivalentTo(8443))
	u.looks()
	u.leavesNothing(p)
}

// TestWhatHasChangedSinceThePullRequestWaits changes an input of the Stack between the comment and the merge.
func TestWhatHasChangedSinceThePullRequestWaits(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	u := newReviewed(t, github())
	p := u.opens("feature", u.with("443", "8443"))
	u.labels(p)
	u.looks()
	digest := u.digestIn(u.awaitComment(p, "8443", p.commit))
	edit(u.tenant, u.stack, func(s *v1.Stack) { s.Spec.Config["network:note"] = jsonText("moved") })
	u.awaitReady(u.stack)

	u.merges(p)
	u.follows(digest)
	u.Eventually(func(g Gomega) {
		g.Expect(u.Get(u.ctx, keyOf(u.stack), u.stack)).To(Succeed())
		g.Expect(u.stack.Status.Plan).To(And(HaveField("State", v1.PlanProposed), HaveField("Digest", Not(Equal(digest))),
			HaveField("Message", ContainSubstring("approves another plan, "+digest))))
	}).Should(Succeed())
	u.Expect(u.port()).To(BeEquivalentTo(443))
}

// TestAMergeIsComparedWithAStateThatHasMoved has a person run Pulumi by hand between the approval and the merge, which no Stack
// and no preview has noticed.
func TestAMergeIsComparedWithAStateThatHasMoved(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	for name, test := range map[string]struct {
		byHand func(*reviewed) string
		waits  bool
	}{
		"without a change": {byHand: func(r *reviewed) string { return r.program }},
		"what the merge changes": {
			byHand: func(r *reviewed) string { return r.with("443", "9443") }, waits: true,
		},
		"what the merge would delete": {
			byHand: func(r *reviewed) string {
				return r.with("outputs:", "  other:\n    type: aws:ec2:SecurityGroup\noutputs:")
			}, waits: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := newReviewed(t, github())
			p := u.opens("feature", u.with("443", "8443"))
			u.labels(p)
			u.looks()
			digest := u.digestIn(u.awaitComment(p, "8443", p.commit))
			u.byHand(test.byHand(u))
			moved := u.standIns()
			revision := u.merges(p)
			u.follows(digest)
			if test.waits {
				proposed := u.awaitProposal(u.stack, digest)
				u.Expect(proposed.Message).To(ContainSubstring("approves another plan, " + digest))
				u.Expect(u.standIns()).To(Equal(moved))
				digest = proposed.Digest
				u.follows(digest)
			}
			u.awaitReady(u.stack, atRevision(revision))
			u.Expect(u.stack.Status.Plan).To(And(HaveField("State", v1.PlanApplied), HaveField("Digest", digest)))
			u.Expect(u.standIns()).To(HaveLen(1))
			u.Expect(u.port()).To(BeEquivalentTo(8443))
		})
	}
}

// byHand runs a program with the CLI alone, and with the salt that the stack has: with another one, the state would be
// encrypted anew, which is a change of it.
func (r *reviewed) byHand(program string) {
	r.test.Helper()
	state, err := os.ReadFile(filepath.Join(r.backend, ".pulumi", "stacks", "network", "production.json"))
	r.Expect(err).NotTo(HaveOccurred())
	salt := regexp.MustCompile(`"salt": *"([^"]+)"`).FindSubmatch(state)
	r.Expect(salt).To(HaveLen(2))
	bare := r.barePulumi(sources.Files{"Pulumi.yaml": program, "Pulumi.production.yaml": "encryptionsalt: " + string(salt[1]) + "\n"})
	bare.run("", "config", "set", "aws:region", "us-east-1", "--stack", "production")
	bare.run("", "up", "--yes", "--skip-preview", "--stack", "production")
}

// TestAStackDecidesWhoseChangesCanBeApproved takes the consent of the Stack away.
func TestAStackDecidesWhoseChangesCanBeApproved(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	u := newReviewed(t, github())
	edit(u.tenant, u.stack, func(s *v1.Stack) { s.Spec.Approval.PreviewNamespaces = nil })
	p := u.opens("feature", u.with("443", "8443"))
	u.labels(p)
	u.looks()
	text := u.awaitComment(p, "8443", p.commit, "cannot be approved")
	u.Expect(text).NotTo(ContainSubstring("approved: sha256:"))
	u.Expect(text).To(ContainSubstring("spec.approval.previewNamespaces"), "it says what to set")
}
