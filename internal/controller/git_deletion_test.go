// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"encoding/base64"
	"fmt"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// keptByPolicy refuses the deletion of what is kept for spec.projectRepo, like an
// admission policy that quotes the object.
func (w *gitWorld) keptByPolicy() {
	reported := gitToken + " in " + base64.StdEncoding.EncodeToString([]byte(gitToken))
	w.Client = interceptor.NewClient(w.Client.(client.WithWatch), interceptor.Funcs{
		Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
			switch o.(type) {
			case *v1.Stack:
				return c.Delete(ctx, o, opts...)
			case *corev1.Secret:
				// The default response of a ValidatingAdmissionPolicy.
				return apierrors.NewInvalid(schema.GroupKind{Kind: "Secret"}, o.GetName(), field.ErrorList{field.Forbidden(nil, reported+" is kept")})
			}
			return apierrors.NewForbidden(schema.GroupResource{Resource: "gitrepositories"}, o.GetName(), fmt.Errorf("it is kept"))
		},
	})
}

func (w *gitWorld) expectToldOnce(objects ...string) {
	w.t.Helper()
	var expected []any
	for _, object := range objects {
		expected = append(expected, And(HavePrefix("Warning ArtifactFailed failed to delete "+object), HaveSuffix("delete it by hand")))
	}
	var warnings []string
	for _, line := range w.events.lines {
		if ok, _ := HavePrefix("Warning").Match(line); ok {
			warnings = append(warnings, line)
		}
	}
	w.Expect(warnings).To(ConsistOf(expected...))
	w.Expect(w.events.lines).NotTo(ContainElement(ContainSubstring(gitToken)))
	w.Expect(w.events.lines).NotTo(ContainElement(ContainSubstring(base64.StdEncoding.EncodeToString([]byte(gitToken)))))
}

func TestAGitRepositoryThatMayNotBeDeletedDoesNotBlockAnEdit(t *testing.T) {
	w := newGitWorld(t, &v1.Program{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "app", Generation: 1}})
	w.settle("one")
	w.keptByPolicy()
	w.edit(func(s *v1.Stack) {
		s.Spec.ProjectRepo, s.Spec.Branch, s.Spec.RepoDir, s.Spec.GitAuth = "", "", "", nil
		s.Spec.ProgramRef = &v1.ProgramReference{Name: "app"}
	})
	w.mustReconcile()
	w.mustReconcile()
	w.Expect(w.stack().Status.GitRepository).To(BeEmpty())
	w.Expect(w.message()).NotTo(ContainSubstring("GitRepository"), "it continues with the Program")
	w.repo()
	w.expectToldOnce("GitRepository default/app", "Secret default/app-git-auth")
}

func TestCredentialsThatMayNotBeDeletedDoNotBlockTheStack(t *testing.T) {
	w := newGitWorld(t)
	w.settle("one")
	w.keptByPolicy()
	w.edit(func(s *v1.Stack) { s.Spec.GitAuth, s.Generation = nil, 2 })
	w.mustReconcile()
	w.Expect(w.repo().Spec.SecretRef).To(BeNil())
	w.edited()
	w.fetch("two")
	w.finish()
	w.Expect(w.stack().Status.LastAppliedRevision).To(Equal("main@sha1:two"))
	w.secret()
	w.expectToldOnce("Secret default/app-git-auth")
}

func TestAGitRepositoryThatMayNotBeDeletedDoesNotBlockDeletion(t *testing.T) {
	w := newGitWorld(t)
	w.edit(func(s *v1.Stack) { s.Spec.DestroyOnFinalize = false })
	w.settle("one")
	w.keptByPolicy()
	w.Expect(w.Delete(w.ctx, w.stack())).To(Succeed())
	w.mustReconcile()
	w.Expect(apierrors.IsNotFound(w.Get(w.ctx, key, &v1.Stack{}))).To(BeTrue())
	w.expectToldOnce("GitRepository default/app", "Secret default/app-git-auth")
}

func TestAnInterruptedStackKeepsItsFinalizerWhileItsRepositoryIsFetched(t *testing.T) {
	w := newGitWorld(t)
	w.edit(func(s *v1.Stack) { s.Spec.DestroyOnFinalize, s.Spec.RunProgram = false, true })
	w.mustReconcile()
	w.fetch("one")
	w.nextRun()
	w.endNow(run.Failed, byForce)
	w.edited()
	w.Expect(w.Delete(w.ctx, w.stack())).To(Succeed())
	w.mustReconcile()
	w.Expect(w.deleted()).To(BeFalse())
	w.Expect(w.message()).To(ContainSubstring("has not fetched"))

	w.fetch("two")
	w.Expect(w.nextRun().Operation).To(Equal(run.Recover))
}
