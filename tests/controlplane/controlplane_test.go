// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/flux-pulumi/pulumi-controller/tests/process"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

// TestAControlPlane takes one control plane through all that the tests of other packages
// do with theirs.
func TestAControlPlane(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	g := NewWithT(t)
	crds, err := ProjectCRDs()
	g.Expect(err).NotTo(HaveOccurred())
	kustomizations, err := process.FindBin(filepath.Join("crds", "kustomize-controller"))
	g.Expect(err).NotTo(HaveOccurred())
	notifications, err := BuildNotifications(t.Context(), t.TempDir(), Flux29, Flux29)
	g.Expect(err).NotTo(HaveOccurred())
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	defer cancel()
	begin := time.Now()
	plane, err := Start(ctx, Options{Dir: t.TempDir(), CRDPaths: append(crds[:1], kustomizations, notifications)})
	g.Expect(err).NotTo(HaveOccurred())
	t.Logf("control plane ready with CRDs after %s", time.Since(begin).Round(time.Millisecond))
	t.Cleanup(func() { g.Expect(plane.Stop()).To(Succeed()) })

	t.Run("source-controller turns every source into an artifact", func(t *testing.T) { sourcesBecomeArtifacts(t, plane) })
	t.Run("kustomize-controller applies an artifact", func(t *testing.T) { kustomizationsAreApplied(t, plane) })
	t.Run("notification-controller takes events", func(t *testing.T) { eventsAreTaken(t, plane) })
	t.Run("flux-operator makes what a template has", func(t *testing.T) { resourceSetsAreApplied(t, plane) })
	t.Run("it survives a restart of the API server", func(t *testing.T) { restartIsSurvived(t, plane) })
	t.Run("it stops with its context", func(t *testing.T) {
		g := NewWithT(t)
		cancel()
		g.Eventually(plane.apiserver.Done(), startTimeout).Should(BeClosed())
		g.Eventually(plane.etcd.Done(), startTimeout).Should(BeClosed())
	})
}

func restartIsSurvived(t *testing.T, plane *ControlPlane) {
	g, ctx := NewWithT(t), t.Context()
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

func TestAFailedStartLeavesNothingRunning(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	g := NewWithT(t)
	_, err := Start(t.Context(), Options{Dir: t.TempDir(), CRDPaths: []string{"/nowhere"}})
	g.Expect(err).To(MatchError(ContainSubstring("/nowhere")))
	_, err = Start(t.Context(), Options{Dir: t.TempDir(), BinDir: t.TempDir()})
	g.Expect(err).To(MatchError(ContainSubstring("finding etcd")))
}
