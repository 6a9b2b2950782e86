// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"strings"
	"syscall"
	"testing"

	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/console"
	"github.com/flux-pulumi/pulumi-controller/internal/localprogram"
)

func TestALocalProgramIsRemovedOnceTheAPIServerIsBack(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t, "preview-local-away")
	w.apply("steered")
	stack := w.network()
	configMap := localConfigMap(stack, localprogram.ProgramKey, []byte("{}"))
	g.Expect(w.api.Create(t.Context(), configMap)).To(Succeed())
	before := stack.DeepCopy()
	stack.Annotations = map[string]string{v1.PreviewProgramAnnotation: "a", v1.PreviewRequestAnnotation: "b"}
	g.Expect(w.api.Patch(t.Context(), stack, client.MergeFrom(before))).To(Succeed())

	refusals := 3
	refuse := func(otherwise func() error) error {
		if refusals--; refusals >= 0 {
			return syscall.ECONNREFUSED
		}
		refusals = 3
		return otherwise()
	}
	api := interceptor.NewClient(w.api, interceptor.Funcs{
		Delete: func(ctx context.Context, api client.WithWatch, object client.Object, options ...client.DeleteOption) error {
			return refuse(func() error { return api.Delete(ctx, object, options...) })
		},
		Patch: func(ctx context.Context, api client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
			return refuse(func() error { return api.Patch(ctx, object, patch, options...) })
		},
	})
	var errs strings.Builder
	s := &session{Environment: w.env, Console: console.New(&errs, false, nil)}
	interrupted, interrupt := context.WithCancel(t.Context())
	interrupt()
	s.removeTraces(interrupted, api, stack, &traces{request: "b", program: "a", configMap: configMap})
	g.Expect(errs.String()).To(BeEmpty())
	g.Expect(w.programs()).To(BeEmpty())
	g.Expect(w.network().Annotations).To(BeEmpty())
}

func TestALocalProgramIsRemovedIfItsCreationGotNoResponse(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t, "preview-local-unanswered")
	w.apply("steered")
	files(t, map[string]string{"Pulumi.yaml": aProject})
	api := interceptor.NewClient(w.api, interceptor.Funcs{
		Create: func(ctx context.Context, api client.WithWatch, object client.Object, options ...client.CreateOption) error {
			g.Expect(api.Create(ctx, object, options...)).To(Succeed())
			g.Expect(w.programs()).To(HaveLen(1))
			return syscall.ECONNRESET
		},
	})
	var errs strings.Builder
	s := &session{Environment: w.env, Console: console.New(&errs, false, nil)}
	g.Expect(s.preview(t.Context(), api, w.network(), "Pulumi.yaml", "")).To(MatchError(syscall.ECONNRESET))
	g.Expect(errs.String()).To(Equal("► reading the program from Pulumi.yaml\n"))
	g.Expect(w.programs()).To(BeEmpty())
}

func TestNothingIsReportedOfAnAnnotationThatCouldNotBeSet(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t, "preview-local-forbidden")
	w.apply("steered")
	files(t, map[string]string{"Pulumi.yaml": aProject})
	api := interceptor.NewClient(w.api, interceptor.Funcs{
		Patch: func(context.Context, client.WithWatch, client.Object, client.Patch, ...client.PatchOption) error {
			return apierrors.NewForbidden(schema.GroupResource{Resource: "stacks"}, "network", nil)
		},
	})
	var errs strings.Builder
	s := &session{Environment: w.env, Console: console.New(&errs, false, nil)}
	g.Expect(s.preview(t.Context(), api, w.network(), "Pulumi.yaml", "")).To(MatchError(apierrors.IsForbidden, "it is forbidden"))
	g.Expect(errs.String()).NotTo(ContainSubstring("is left"))
	g.Expect(w.programs()).To(BeEmpty())
}

func TestAForbiddenRemovalIsReportedAtOnce(t *testing.T) {
	g := NewWithT(t)
	tries := 0
	s := &session{Environment: testEnvironment()}
	err := s.insist(t.Context(), func() error {
		tries++
		return apierrors.NewForbidden(schema.GroupResource{Resource: "configmaps"}, "a", nil)
	})
	g.Expect(apierrors.IsForbidden(err)).To(BeTrue())
	g.Expect(tries).To(Equal(1))
}
