// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"path"
	"strings"
	"testing"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

// showsThe expects the value of the only thing of a program, in the cloud and among the outputs.
func (t *tenant) showsThe(value string, stack *v1.Stack) {
	t.test.Helper()
	t.Expect(t.things()).To(Equal(map[string]string{"a": value}))
	t.Expect(stack.Status.Outputs).To(Equal(map[string]apiextensionsv1.JSON{"value": jsonText(value)}))
	t.Expect(t.resourcesInState("lab", path.Base(stack.Spec.Stack))).To(Equal([]string{"a"}))
}

func TestAGitRepositoryIsAppliedAndFollowed(t *testing.T) {
	t.Parallel()
	u := newTenant(t, shared)
	source := u.git(project("lab", oneThing("one")))
	stack := u.stack(fromGit)
	u.apply(stack)

	first := u.awaitArtifact(source.object, "")
	u.awaitReady(stack, atRevision(first))
	u.showsThe("one", stack)
	u.Expect(stack.Status.LastAttemptedRevision).To(Equal(first))
	u.Expect(stack.Status.LastUpdate).NotTo(BeNil())
	u.Expect(stack.Status.LastUpdate.State).To(Equal(v1.UpdateSucceeded))
	u.Expect(revisionOf(stack.Status.LastUpdate.LastAttemptedCommit)).To(Equal(first))
	u.Expect(revisionOf(stack.Status.LastUpdate.LastSuccessfulCommit)).To(Equal(first))
	u.Expect(stack.Status.Resources.Total).To(BeEquivalentTo(1))
	u.Expect(stack.Status.Resources.Created).To(BeEquivalentTo(1))
	u.Expect(stack.Status.ProjectInfo.Name).To(Equal("lab"))
	u.Expect(stack.Status.ProjectInfo.Runtime).To(Equal("yaml"))
	u.awaitEvent(stack, "Normal", "ReconciliationSucceeded", "1 created")

	second := source.commit(project("lab", oneThing("two")))
	u.awaitReady(stack, atRevision(second))
	u.showsThe("two", stack)
	u.Expect(revisionOf(stack.Status.LastUpdate.LastSuccessfulCommit)).To(Equal(second))
	u.Expect(u.journal(u)).To(Equal([]string{"create begin a", "create done a", "update begin a", "update done a"}))
}

func TestAnOCIRepositoryIsAppliedAndFollowed(t *testing.T) {
	t.Parallel()
	u := newTenant(t, shared)
	commits := []string{strings.Repeat("1", 40), strings.Repeat("2", 40)}
	u.push(project("lab", oneThing("one")), revisionOf(commits[0]))
	source := u.ociRepository()
	u.apply(source)
	stack := u.stack(from(sourcev1.OCIRepositoryKind, ""))
	u.apply(stack)

	first := u.awaitArtifact(source, "")
	u.awaitReady(stack, atRevision(first))
	u.showsThe("one", stack)
	u.Expect(first).To(HavePrefix("latest@sha256:"))
	u.Expect(stack.Status.LastAppliedOriginRevision).To(Equal(revisionOf(commits[0])))
	u.Expect(stack.Status.LastUpdate.LastSuccessfulCommit).To(Equal(commits[0]))

	u.push(project("lab", oneThing("two")), revisionOf(commits[1]))
	request(u, source)
	second := u.awaitArtifact(source, first)
	u.awaitReady(stack, atRevision(second))
	u.showsThe("two", stack)
	u.Expect(stack.Status.LastAppliedOriginRevision).To(Equal(revisionOf(commits[1])))
}

func TestABucketIsAppliedAndFollowed(t *testing.T) {
	t.Parallel()
	u := newTenant(t, shared)
	source := u.bucket()
	u.Expect(u.s3.PutObjects(u.ctx, u.namespace, in("deep/er", project("lab", oneThing("one"))))).To(Succeed())
	u.apply(source)
	stack := u.stack(from(sourcev1.BucketKind, "deep/er"))
	u.apply(stack)

	first := u.awaitArtifact(source, "")
	u.awaitReady(stack, atRevision(first))
	u.showsThe("one", stack)
	u.Expect(stack.Status.LastUpdate.LastSuccessfulCommit).To(BeEmpty(), "a bucket has no commits")

	u.Expect(u.s3.PutObjects(u.ctx, u.namespace, in("deep/er", project("lab", oneThing("two"))))).To(Succeed())
	request(u, source)
	u.awaitReady(stack, atRevision(u.awaitArtifact(source, first)))
	u.showsThe("two", stack)
}

func TestAnExternalArtifactIsAppliedAndFollowed(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	u := newTenant(t, shared)
	u.publishFiles("v1", project("lab", oneThing("one")))
	stack := u.stack(fromArtifact)
	u.apply(stack)
	u.awaitReady(stack, atRevision("v1"))
	u.showsThe("one", stack)

	u.publishFiles("v2", project("lab", oneThing("two")))
	u.awaitReady(stack, atRevision("v2"))
	u.showsThe("two", stack)
}

func TestAChangedDirIsFollowed(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	u := newTenant(t, shared)
	source := u.git(both(in("dev", project("lab", oneThing("one"))), in("prod", project("lab", oneThing("two")))))
	stack := u.stack(from(sourcev1.GitRepositoryKind, "dev"))
	u.apply(stack)
	u.awaitReady(stack)
	u.showsThe("one", stack)

	edit(u, stack, func(s *v1.Stack) { s.Spec.FluxSource.Dir = "./prod/" })
	u.awaitReady(stack)
	u.showsThe("two", stack)

	moved := source.move("prod", in("sites/prod", project("lab", oneThing("three"))))
	u.awaitFailure(stack, "ArtifactFailed", `dir "./prod/" is not in the artifact`, `has "dev/", "sites/"`)
	u.Expect(u.things()).To(Equal(map[string]string{"a": "two"}))
	edit(u, stack, func(s *v1.Stack) { s.Spec.FluxSource.Dir = "sites/prod" })
	u.awaitReady(stack, atRevision(moved))
	u.showsThe("three", stack)
}

func TestTwoStacksFollowOneSource(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	u := newTenant(t, shared)
	source := u.git(both(in("one", project("first", oneThing("one"))), in("two", project("second", twoThings("x", "y")))))
	one := u.stack(named("one"), from(sourcev1.GitRepositoryKind, "one"))
	two := u.stack(named("two"), from(sourcev1.GitRepositoryKind, "two"))
	u.apply(one)
	u.apply(two)
	u.awaitReady(one)
	u.awaitReady(two)
	u.Expect(u.things()).To(Equal(map[string]string{"a": "one", "b": "x", "c": "y"}))

	revision := source.commit(both(in("one", project("first", oneThing("uno"))), in("two", project("second", twoThings("x", "z")))))
	u.awaitReady(one, atRevision(revision))
	u.awaitReady(two, atRevision(revision))
	u.Expect(u.things()).To(Equal(map[string]string{"a": "uno", "b": "x", "c": "z"}))
	u.Expect(u.resourcesInState("first", "one")).To(ConsistOf("a"))
	u.Expect(u.resourcesInState("second", "two")).To(ConsistOf("b", "c"))
}

func TestAnOldVersionOfTheSourceAPIIsFollowed(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	u := newTenant(t, shared)
	source := u.git(project("lab", oneThing("one")))
	stack := u.stack(fromGit, func(s *v1.Stack) {
		s.Spec.FluxSource.SourceRef.APIVersion = "source.toolkit.fluxcd.io/v1beta2"
	})
	u.apply(stack)
	u.awaitReady(stack, atRevision(u.awaitArtifact(source.object, "")))

	second := source.commit(project("lab", oneThing("two")))
	u.awaitReady(stack, atRevision(second))
	u.showsThe("two", stack)
}
