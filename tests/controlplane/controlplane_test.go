// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

// startPlane starts a control plane with the CRDs of source-controller and of others, and
// stops it at the end of the test.
func startPlane(t *testing.T, ctx context.Context, others ...string) *ControlPlane {
	t.Helper()
	g := NewWithT(t)
	crds, err := ProjectCRDs()
	g.Expect(err).NotTo(HaveOccurred())
	begin := time.Now()
	plane, err := Start(ctx, Options{Dir: t.TempDir(), CRDPaths: append(crds[:1], others...)})
	g.Expect(err).NotTo(HaveOccurred())
	t.Logf("control plane ready with CRDs after %s", time.Since(begin).Round(time.Millisecond))
	t.Cleanup(func() {
		begin := time.Now()
		g.Expect(plane.Stop()).To(Succeed())
		t.Logf("control plane stopped after %s", time.Since(begin).Round(time.Millisecond))
	})
	return plane
}

func TestTheControlPlaneServesAndSurvivesARestart(t *testing.T) {
	t.Parallel()
	g, ctx := NewWithT(t), t.Context()
	plane := startPlane(t, context.WithoutCancel(ctx))
	config, err := clientcmd.BuildConfigFromFlags("", plane.KubeconfigPath())
	g.Expect(err).NotTo(HaveOccurred())
	admin, err := kubernetes.NewForConfig(config)
	g.Expect(err).NotTo(HaveOccurred())
	secrets := admin.CoreV1().Secrets("default")
	_, err = secrets.Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "kept"}}, metav1.CreateOptions{})
	g.Expect(err).NotTo(HaveOccurred())

	t.Run("a user without a role may do nothing", func(t *testing.T) {
		g := NewWithT(t)
		config := plane.RESTConfig()
		config.Impersonate.UserName = "nobody"
		nobody, err := kubernetes.NewForConfig(config)
		g.Expect(err).NotTo(HaveOccurred())
		_, err = nobody.CoreV1().Secrets("default").Get(ctx, "kept", metav1.GetOptions{})
		g.Expect(apierrors.IsForbidden(err)).To(BeTrue(), "%v", err)
	})

	t.Run("a service account's token is its own identity", func(t *testing.T) {
		g := NewWithT(t)
		accounts := admin.CoreV1().ServiceAccounts("default")
		_, err := accounts.Create(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "tenant"}}, metav1.CreateOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		token, err := accounts.CreateToken(ctx, "tenant", &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		config := plane.RESTConfig()
		config.BearerToken = token.Status.Token
		tenant, err := kubernetes.NewForConfig(config)
		g.Expect(err).NotTo(HaveOccurred())
		review, err := tenant.AuthenticationV1().SelfSubjectReviews().Create(ctx, &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(review.Status.UserInfo.Username).To(Equal("system:serviceaccount:default:tenant"))
	})

	t.Run("objects are there again after an outage", func(t *testing.T) {
		g := NewWithT(t)
		g.Expect(plane.StopAPIServer()).To(Succeed())
		_, err := secrets.Get(ctx, "kept", metav1.GetOptions{})
		g.Expect(err).To(HaveOccurred())
		g.Expect(plane.StartAPIServer(ctx)).To(Succeed())
		_, err = secrets.Get(ctx, "kept", metav1.GetOptions{})
		g.Expect(err).NotTo(HaveOccurred())
	})
}

func TestTheEndOfTheContextStopsTheControlPlane(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	ctx, cancel := context.WithCancel(t.Context())
	plane, err := Start(ctx, Options{Dir: t.TempDir()})
	g.Expect(err).NotTo(HaveOccurred())
	cancel()
	g.Eventually(plane.apiserver.Done(), startTimeout).Should(BeClosed())
	g.Eventually(plane.etcd.Done(), startTimeout).Should(BeClosed())
}

func TestAFailedStartLeavesNothingRunning(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	_, err := Start(t.Context(), Options{Dir: t.TempDir(), CRDPaths: []string{"/nowhere"}})
	g.Expect(err).To(MatchError(ContainSubstring("/nowhere")))
	_, err = Start(t.Context(), Options{Dir: t.TempDir(), BinDir: t.TempDir()})
	g.Expect(err).To(MatchError(ContainSubstring("finding etcd")))
}
