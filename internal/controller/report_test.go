// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"strings"
	"testing"

	"github.com/fluxcd/pkg/apis/meta"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/source"
)

// TestTheCommentComesBackAfterAFailureWithoutARun has the pull request show why no preview can start, and then the preview again,
// whose inputs and result are the same as before.
func TestTheCommentComesBackAfterAFailureWithoutARun(t *testing.T) {
	g := NewWithT(t)
	w := pullRequestWorld(t, nil)
	w.previewsOnce()
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "read-only"}}
	g.Expect(w.Delete(t.Context(), secret)).To(Succeed())
	for range 2 {
		w.mustReconcile()
	}
	g.Expect(w.runner.started).To(Equal(1))
	g.Expect(w.events.lines).To(HaveExactElements(HavePrefix("Normal ReconciliationSucceeded "), HavePrefix("Warning "+v1.InputsFailedReason+" ")))
	g.Expect(w.events.about("comment")).To(ContainElement(ContainSubstring("Secret 'default/read-only' not found")))

	g.Expect(w.Create(t.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "read-only", UID: "2"}, Data: map[string][]byte{"token": []byte("reader")},
	})).To(Succeed())
	w.previewsOnce()
	g.Expect(w.events.lines).To(HaveLen(3))
	g.Expect(w.events.lines[2]).To(HavePrefix("Normal ReconciliationSucceeded "))
	previews := 0
	for _, comment := range w.events.about("comment") {
		if strings.Contains(comment, "1 to update") {
			previews++
		}
	}
	g.Expect(previews).To(Equal(2), "before and after")
}

// A source that is on its way is announced to nobody, so that the comment still shows the preview.
func TestTheCommentStaysWhileASourceIsAwaited(t *testing.T) {
	g := NewWithT(t)
	w := pullRequestWorld(t, nil)
	w.previewsOnce()
	from := w.Sources.(*testSource)
	from.err = source.ErrFetching
	w.mustReconcile()
	g.Expect(w.events.lines[len(w.events.lines)-1]).To(HavePrefix("Trace " + meta.ArtifactFailedReason + " "))
	from.err = nil
	w.mustReconcile()
	g.Expect(w.runner.started).To(Equal(1))
}

// TestEachCommitSaysThatItIsNotPreviewed, for whatever reason: a reviewer sees nothing else of it.
func TestEachCommitSaysThatItIsNotPreviewed(t *testing.T) {
	for name, test := range map[string]struct {
		edit   func(previewed, preview *v1.Stack)
		reason string
		mend   func(w *world)
	}{
		"another backend": {
			func(previewed, _ *v1.Stack) { previewed.Spec.Backend = "file:///other" }, v1.InvalidSpecReason,
			func(w *world) { w.editPreviewed(func(s *v1.Stack) { s.Spec.Backend = "file:///state" }) },
		},
		"an invalid name of the stack": {
			func(_, preview *v1.Stack) { preview.Spec.Stack = "a/b/c/d" }, v1.InvalidSpecReason,
			func(w *world) { w.edit(func(s *v1.Stack) { s.Spec.Stack = "organization/app/dev" }) },
		},
		"a Secret that is missing": {
			func(_, preview *v1.Stack) { preview.Spec.EnvRefs["TOKEN"].Secret.Name = "later" }, v1.InputsFailedReason,
			func(w *world) { w.edit(func(s *v1.Stack) { s.Spec.EnvRefs["TOKEN"].Secret.Name = "read-only" }) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			w := pullRequestWorld(t, test.edit)
			from := w.Sources.(*testSource)
			for _, commit := range []string{commitA, commitB, commitA} {
				from.Revision = commit
				for range 2 {
					w.mustReconcile()
				}
				g.Expect(w.stack().Status.LastAttemptedRevision).To(Equal(commit))
			}
			g.Expect(w.runner.started).To(BeZero())
			g.Expect(w.events.lines).To(HaveLen(3))
			g.Expect(w.events.lines).To(HaveEach(HavePrefix("Warning " + test.reason + " ")))
			g.Expect(w.events.about("revision")).To(HaveExactElements(commitA, commitB, commitA))
			test.mend(w)
			w.previewsOnce()
			g.Expect(w.events.lines).To(HaveLen(4))
			g.Expect(w.events.lines[3]).To(HavePrefix("Normal ReconciliationSucceeded "))
		})
	}
}

// TestACommitOfASourceThatCannotBeReadIsNotKnown, and the refused spec is reported without it.
func TestACommitOfASourceThatCannotBeReadIsNotKnown(t *testing.T) {
	g := NewWithT(t)
	w := pullRequestWorld(t, func(previewed, _ *v1.Stack) { previewed.Spec.Backend = "file:///other" })
	w.Sources.(*testSource).err = source.ErrNotFound
	w.mustReconcile()
	g.Expect(w.events.lines).To(HaveExactElements(HavePrefix("Warning " + v1.InvalidSpecReason + " ")))
	g.Expect(w.stack().Status.LastAttemptedRevision).To(BeEmpty())
}
