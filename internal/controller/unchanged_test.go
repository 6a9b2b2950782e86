// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/observe"
)

// TestStackInSyncCostsNoRequest has the interval of its Stack be a few milliseconds.
func TestStackInSyncCostsNoRequest(t *testing.T) {
	t.Parallel()
	looks := &atomic.Int64{}
	u := shardCluster(t, "idle", func(r *StackReconciler) {
		r.Jitter = func(time.Duration) time.Duration {
			looks.Add(1)
			return 5 * time.Millisecond
		}
	}).tenant(t)
	secret := func(value string) *corev1.Secret {
		return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "token"}, Data: map[string][]byte{"TOKEN": []byte(value)}}
	}
	config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "config"}, Data: map[string]string{"region": "here"}}
	used := secret("1")
	u.create(used)
	u.create(config)
	u.createStack("a", inShard("idle"), func(s *v1.Stack) {
		s.Spec.EnvSecrets = []string{"token"}
		s.Spec.ConfigRef = map[string]v1.ConfigMapRef{"app:region": {Name: "config", Key: "region"}}
		s.Spec.WriteOutputsToSecret = &v1.OutputsSecret{Name: "outputs"}
	})
	awaitLooks := func() {
		t.Helper()
		before := looks.Load()
		u.Eventually(looks.Load).Should(BeNumerically(">", before+20))
	}
	awaitRuns := func(n int) {
		t.Helper()
		u.Eventually(u.runs).Should(HaveLen(n))
		u.awaitReady("a")
		awaitLooks() // the watch has delivered all that the run has written
		before := u.requests.read()
		awaitLooks()
		u.Expect(u.requests.read()[len(before):]).To(BeEmpty())
	}
	awaitRuns(1)

	used.Data["TOKEN"] = []byte("2")
	u.Expect(u.Update(u.ctx, used)).To(Succeed())
	awaitRuns(2)

	config.Data["region"] = "there"
	u.Expect(u.Update(u.ctx, config)).To(Succeed())
	awaitRuns(3)

	u.Expect(u.Delete(u.ctx, used)).To(Succeed())
	u.Eventually(func() string { return readyMessage(u.stack("a")) }).Should(ContainSubstring("not found"))
	u.create(secret("2"))
	awaitRuns(4)

	u.edit("a", func(s *v1.Stack) { s.Spec.ConfigRef = nil })
	awaitRuns(5)

	u.Expect(u.Delete(u.ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: u.namespace, Name: "outputs"}})).To(Succeed())
	u.Eventually(u.runs).Should(HaveLen(6), "the outputs are read again")
	u.Expect(u.runs()[5]).To(Equal("outputs a"))
}

// countedReader counts what is read from the API server.
type countedReader struct {
	client.Reader
	reads int
}

func (r *countedReader) Get(ctx context.Context, key client.ObjectKey, object client.Object, opts ...client.GetOption) error {
	r.reads++
	return r.Reader.Get(ctx, key, object, opts...)
}

func TestUnchangedCredentialsOfARepositoryAreNotRead(t *testing.T) {
	w := newGitWorld(t)
	api := &countedReader{Reader: w.APIReader}
	w.APIReader, w.results = api, observe.NewResultCache(w.Client)
	w.settle("one")
	reads := func() int {
		before := api.reads
		w.mustReconcile()
		return api.reads - before
	}
	w.Expect(reads()).To(BeZero())

	token := &corev1.Secret{}
	w.Expect(w.Get(w.ctx, client.ObjectKey{Namespace: "default", Name: "token"}, token)).To(Succeed())
	token.Data["token"] = []byte("another")
	w.Expect(w.Update(w.ctx, token)).To(Succeed())
	w.Expect(reads()).NotTo(BeZero())
	w.Expect(w.secret().Data["password"]).To(Equal([]byte("another")))
	w.fetch("one")
	w.mustReconcile()
	w.Expect(reads()).To(BeZero())

	w.Expect(w.Delete(w.ctx, w.secret())).To(Succeed())
	w.Expect(reads()).NotTo(BeZero())
	w.Expect(w.secret().Data["password"]).To(Equal([]byte("another")), "it is created again")

	repo := w.repo()
	repo.Spec.URL = "https://git.example.com/other.git"
	w.Expect(w.Update(w.ctx, repo)).To(Succeed())
	w.Expect(reads()).NotTo(BeZero())
	w.Expect(w.repo().Spec.URL).To(Equal("https://git.example.com/a.git"))
}
