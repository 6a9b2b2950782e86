// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/flux-pulumi/pulumi-controller/tests/process"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

// The client caches the kinds it has seen, so removing CRDs under a running controller is
// a different case from never having had them.
func TestCRDsThatAreRemovedAreWaitedFor(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	const holding = "tests.example.com/holding"
	cluster := ownCluster(t)
	u := cluster.tenant(t)
	path, err := process.FindBin(filepath.Join("crds", "source-controller"))
	u.Expect(err).NotTo(HaveOccurred())
	crds := envtest.CRDInstallOptions{Paths: []string{path}, ErrorIfPathMissing: true, MaxTime: time.Minute}
	direct, err := client.New(cluster.config, client.Options{})
	u.Expect(err).NotTo(HaveOccurred())
	installed, err := envtest.InstallCRDs(cluster.config, crds)
	u.Expect(err).NotTo(HaveOccurred())
	u.create(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "token"}, StringData: map[string]string{"token": gitToken}})
	message := func(name string) func() string {
		return func() string { return conditions.GetMessage(u.stack(name), meta.ReadyCondition) }
	}
	u.createStack("old", fromRepo)
	u.fetched("old", "1")
	u.awaitApplied("old", "1")

	// The CRD is terminating as long as it has an object.
	repo := u.repo(u, "old")
	before := client.MergeFrom(repo.DeepCopy())
	controllerutil.AddFinalizer(repo, holding)
	u.Expect(u.Patch(u.ctx, repo, before)).To(Succeed())
	u.Expect(envtest.UninstallCRDs(cluster.config, crds)).To(Succeed())
	u.Eventually(message("old")).Should(ContainSubstring("is being deleted"))
	u.createStack("new", fromRepo)
	u.Eventually(message("new")).Should(ContainSubstring("while custom resource definition is terminating"))

	u.Expect(u.Get(u.ctx, client.ObjectKeyFromObject(repo), repo)).To(Succeed())
	before = client.MergeFrom(repo.DeepCopy())
	controllerutil.RemoveFinalizer(repo, holding)
	u.Expect(u.Patch(u.ctx, repo, before)).To(Succeed())
	u.createStack("newer", fromRepo)
	// The finalizer of the API server takes a conflict about the status of a CRD for a
	// change that will wake it. If that was its own change, of Terminating alone, it is not
	// woken until the resync, up to 5 minutes later (sync and updateCustomResourceDefinition
	// in crd_finalizer.go of apiextensions-apiserver 0.36). One of the metadata wakes it.
	for _, crd := range installed {
		u.Eventually(touch(u.ctx, direct, crd.Name)).WithPolling(time.Second).
			Should(MatchError(apierrors.IsNotFound, "IsNotFound"), crd.Name)
	}
	for _, name := range []string{"old", "new", "newer"} {
		u.Eventually(message(name)).Should(ContainSubstring("install source-controller"), name)
	}

	// Installing over a CRD that is still terminating would update it, and then it would
	// go.
	_, err = envtest.InstallCRDs(cluster.config, crds)
	u.Expect(err).NotTo(HaveOccurred())
	for _, name := range []string{"old", "new", "newer"} {
		u.fetched(name, "2")
		u.awaitApplied(name, "2")
	}
}

// touch changes the metadata of a CRD each time.
func touch(ctx context.Context, c client.Client, crd string) func() error {
	times := 0
	return func() error {
		times++
		touched := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: crd}}
		touched.SetGroupVersionKind(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"))
		patch := fmt.Sprintf(`{"metadata":{"annotations":{"tests.example.com/touched":"%d"}}}`, times)
		return c.Patch(ctx, touched, client.RawPatch(types.MergePatchType, []byte(patch)))
	}
}
