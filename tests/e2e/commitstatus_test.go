// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"strings"
	"testing"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	. "github.com/onsi/gomega"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

// tellsForge creates a git Provider for the forge, and an Alert of the Stack app.
func (t *tenant) tellsForge(f *forge) {
	t.test.Helper()
	t.applyYAML("apiVersion: v1\nkind: Secret\nmetadata: {name: github}\nstringData: {token: t0ken}")
	t.provider("github", "github", f.url)
	t.alert("github", "info", "[{kind: Stack, name: app}]")
}

func commitOf(revision string) string { return revision[strings.LastIndex(revision, ":")+1:] }

func TestACommitOfAGitRepositoryGetsItsStatus(t *testing.T) {
	t.Parallel()
	u := newTenant(t, shared)
	github := u.forge()
	u.tellsForge(github)
	source := u.git(project("lab", oneThing("one")))
	stack := u.stack(fromGit)
	u.apply(stack)
	first := u.awaitArtifact(source.object, "")
	u.awaitReady(stack, atRevision(first))
	u.awaitStatus(github, commitOf(first), "success", "reconciliation succeeded")

	second := source.commit(project("lab", oneThing("two", "failures: {update: the quota is exceeded}")))
	u.awaitFailure(stack, v1.UpdateFailedReason, "the quota is exceeded")
	u.awaitStatus(github, commitOf(second), "failure", "update failed")

	third := source.commit(project("lab", oneThing("three")))
	u.awaitReady(stack, atRevision(third))
	u.awaitStatus(github, commitOf(third), "success", "reconciliation succeeded")
	u.Expect(github.of(commitOf(first))).To(HaveLen(1))
	u.Expect(github.of(commitOf(second))).To(HaveLen(1))
	u.Expect(github.commits()).To(Equal(3))
}

// A commit that does not change the stack still gets the status that it was applied.
func TestACommitThatChangesNothingGetsItsStatus(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	u := newTenant(t, shared)
	github := u.forge()
	u.tellsForge(github)
	source := u.git(project("lab", oneThing("one")))
	stack := u.stack(fromGit)
	u.apply(stack)
	u.awaitReady(stack)

	second := source.commit(both(project("lab", oneThing("one")), map[string]string{"README.md": "about"}))
	u.awaitReady(stack, atRevision(second))
	u.awaitStatus(github, commitOf(second), "success", "reconciliation succeeded")
}

func TestTheCommitThatAnOCIArtifactWasMadeFromGetsItsStatus(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	u := newTenant(t, shared)
	github := u.forge()
	u.tellsForge(github)
	commits := []string{strings.Repeat("a", 40), strings.Repeat("b", 40)}
	u.push(project("lab", oneThing("one")), revisionOf(commits[0]))
	source := u.ociRepository()
	u.apply(source)
	stack := u.stack(from(sourcev1.OCIRepositoryKind, ""))
	u.apply(stack)
	u.awaitReady(stack)
	u.awaitStatus(github, commits[0], "success", "reconciliation succeeded")

	u.push(project("lab", oneThing("two", "failures: {update: the quota is exceeded}")), revisionOf(commits[1]))
	request(u, source)
	u.awaitFailure(stack, v1.UpdateFailedReason, "the quota is exceeded")
	u.awaitStatus(github, commits[1], "failure", "update failed")
	u.Expect(github.commits()).To(Equal(2))
}

// Events meant for a commit status are not for people, who got the other event already.
func TestAChatGetsOneMessagePerUpdate(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	u := newTenant(t, shared)
	slack, all := u.hook(), u.hook()
	u.applyYAML("apiVersion: v1\nkind: Secret\nmetadata: {name: slack}\nstringData: {token: t0ken}")
	u.provider("slack", "slack", slack.url)
	u.alert("slack", "info", "[{kind: Stack, name: app}]")
	u.tells(all, "all", "info", "[{kind: Stack, name: app}]")
	u.git(project("lab", oneThing("one")))
	stack := u.stack(fromGit)
	u.apply(stack)
	u.awaitReady(stack)

	u.Eventually(func(g Gomega) {
		var updates int
		for _, event := range all.events(g) {
			if event.Metadata["commit_status"] == "update" {
				updates++
			}
		}
		g.Expect(updates).To(Equal(1), "the event for the commit: %v", all.texts())
	}).Should(Succeed())
	u.Eventually(slack.texts).Should(ContainElement(ContainSubstring("Update succeeded: 1 created in")))
	u.Expect(slack.texts()).To(HaveLen(1))
}
