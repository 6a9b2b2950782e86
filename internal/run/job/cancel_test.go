// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package job

import (
	"context"
	"errors"
	"testing"

	"github.com/go-logr/logr"
	. "github.com/onsi/gomega"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/run/job/exchange"
)

// upToDate is a cache that misses nothing.
type upToDate struct {
	cache.Cache
	reader client.Reader
}

func (c upToDate) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	return c.reader.Get(ctx, key, object, options...)
}

func (c upToDate) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	return c.reader.List(ctx, list, options...)
}

// started is a Runner with one run in a cluster that starts no pods, and the key of it.
type started struct {
	*Runner
	*WithT
	test *testing.T
	api  client.WithWatch
	key  key
	// patches counts what is written to a Secret that is there.
	patches int
	// fails is the answer to all that is created, where it is set.
	fails error
}

func start(t *testing.T) *started {
	t.Helper()
	s := &started{WithT: NewWithT(t), test: t, key: key{"default", "1"}}
	s.api = interceptor.NewClient(fake.NewClientBuilder().WithScheme(clientgoscheme.Scheme).Build(), interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption) error {
			if _, pod := object.(*corev1.Pod); pod {
				return nil // asked with a dry run
			}
			if s.fails != nil {
				return s.fails
			}
			return c.Create(ctx, object, options...)
		},
		Patch: func(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
			s.patches++
			return c.Patch(ctx, object, patch, options...)
		},
	})
	s.Runner = New(Options{
		Settings: Settings{Image: "controller:1"}, Client: s.api, Reader: s.api, Cache: upToDate{reader: s.api},
		Concurrent: 1, Ended: func(string, string) {}, Log: logr.Discard(),
	})
	s.Expect(s.Reserve("default", "app")).To(BeTrue())
	s.Expect(s.Start(run.Run{ID: "1", Namespace: "default", Name: "app", Operation: run.Update, Backend: "s3://state"})).To(Succeed())
	return s
}

// step takes the run a step further.
func (s *started) step() {
	s.test.Helper()
	_, err := s.tend(s.test.Context(), s.key)
	s.Expect(err).NotTo(HaveOccurred())
}

func (s *started) secret() *corev1.Secret {
	s.test.Helper()
	secret := &corev1.Secret{}
	s.Expect(s.api.Get(s.test.Context(), client.ObjectKey{Namespace: "default", Name: "pulumi-run-1"}, secret)).To(Succeed())
	return secret
}

func (s *started) hasJob() bool {
	s.test.Helper()
	err := s.api.Get(s.test.Context(), client.ObjectKey{Namespace: "default", Name: "pulumi-run-1"}, &batchv1.Job{})
	s.Expect(client.IgnoreNotFound(err)).To(Succeed())
	return err == nil
}

// claim is what a pod does first.
func (s *started) claim() {
	s.test.Helper()
	secret := s.secret()
	delete(secret.Data, exchange.RunKey)
	secret.Data[exchange.ClaimKey] = []byte("{}")
	s.Expect(s.api.Update(s.test.Context(), secret)).To(Succeed())
}

func (s *started) isCancelled() {
	s.test.Helper()
	phase, result := s.Look("1")
	s.Expect(phase).To(Equal(run.Ended))
	s.Expect(result.Outcome).To(Equal(run.Cancelled))
	s.Expect(result.Interrupted).To(BeFalse())
	s.Expect(s.Reserve("default", "other")).To(BeTrue(), "its place is free")
}

func TestARunThatIsCancelledBeforeItIsMade(t *testing.T) {
	s := start(t)
	s.Expect(s.Cancel("1", false)).To(Succeed())
	s.step()
	s.isCancelled()
	s.Expect(s.hasJob()).To(BeFalse())
}

func TestARunThatIsCancelledWhenItWasHalfMade(t *testing.T) {
	s := start(t)
	s.step()
	s.Expect(s.hasJob()).To(BeTrue())
	s.runs["1"].todo = &run.Run{ID: "1", Namespace: "default", Name: "app"} // as after an answer that was lost
	s.Expect(s.Cancel("1", false)).To(Succeed())
	s.step()
	s.step()
	s.isCancelled()
	s.Expect(s.hasJob()).To(BeFalse())
	s.Expect(s.secret().Data).To(HaveKey(exchange.ResultKey), "a pod that comes all the same begins nothing")
}

func TestARunThatIsCancelledWhileItCannotBeMade(t *testing.T) {
	s := start(t)
	s.fails = errors.New("connection refused")
	_, err := s.tend(t.Context(), s.key)
	s.Expect(err).To(HaveOccurred())
	s.Expect(s.Cancel("1", false)).To(Succeed())
	s.step()
	s.isCancelled()
}

func TestARunThatIsCancelledBeforeAPodHasBegunIt(t *testing.T) {
	s := start(t)
	s.step()
	s.Expect(s.Cancel("1", true)).To(Succeed())
	s.step()
	s.isCancelled()
	s.Expect(s.hasJob()).To(BeFalse())
	s.Expect(s.secret().Data).To(And(HaveKey(exchange.ResultKey), Not(HaveKey(exchange.RunKey))))
}

func TestARunThatIsCancelledInMidRunIsToldSoOnce(t *testing.T) {
	s := start(t)
	s.step()
	s.claim()
	s.Expect(s.Cancel("1", false)).To(Succeed())
	for range 3 {
		s.step()
		s.Expect(s.Cancel("1", false)).To(Succeed())
	}
	s.Expect(s.secret().Data).To(HaveKeyWithValue(exchange.CancelKey, []byte("Gently")))
	s.Expect(s.patches).To(Equal(1))
	phase, _ := s.Look("1")
	s.Expect(phase).To(Equal(run.Running), "its pod tells how it ends")
	s.Expect(s.hasJob()).To(BeTrue())

	s.Expect(s.Cancel("1", true)).To(Succeed())
	s.Expect(s.Cancel("1", false)).To(Succeed())
	for range 3 {
		s.step()
	}
	s.Expect(s.secret().Data).To(HaveKeyWithValue(exchange.CancelKey, []byte("Now")), "which is not taken back")
	s.Expect(s.patches).To(Equal(2))
}

func TestARunThatIsCancelledWithoutItsSecretEndsWithItsJob(t *testing.T) {
	s := start(t)
	s.step()
	s.claim()
	s.Expect(s.api.Delete(t.Context(), s.secret())).To(Succeed())
	s.Expect(s.Cancel("1", false)).To(Succeed())
	s.step()
	s.Expect(s.hasJob()).To(BeFalse())
}
