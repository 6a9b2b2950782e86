// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/watches"
	"github.com/flux-pulumi/pulumi-controller/tests/controlplane"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

// An upgrade may start the controller before its CRDs are there.
func TestTheCRDOfPolicySetsMayFollowTheController(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	g := NewWithT(t)
	bases, err := projectCRDs()
	g.Expect(err).NotTo(HaveOccurred())
	crd := func(kind string) string { return filepath.Join(bases[0], "pulumi.com_"+kind+".yaml") }
	plane, err := controlplane.Start(context.WithoutCancel(t.Context()), controlplane.Options{Dir: t.TempDir(), CRDPaths: []string{crd("stacks"), crd("programs")}})
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { g.Expect(plane.Stop()).To(Succeed()) })
	sources := &packSources{digests: map[string]string{}}
	cluster, stop, err := startController(plane, noShard, func(r *StackReconciler) { r.PackSources = sources })
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { g.Expect(stop()).To(Succeed()) })
	u := &policyTenant{orderedTenant: cluster.tenant(t), sources: sources}
	u.config = &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "config"}, Data: map[string]string{"policies": "required-tags: advisory"}}
	u.create(u.config)
	u.createStack("a")
	u.awaitReady("a")

	_, err = envtest.InstallCRDs(cluster.config, envtest.CRDInstallOptions{Paths: []string{crd("policysets")}, ErrorIfPathMissing: true, MaxTime: time.Minute})
	g.Expect(err).NotTo(HaveOccurred())
	set := u.createSet("guard", v1.PolicyEnforce)
	cluster.ahead.Add(int64(watches.UnservedAfter))
	u.await("a", metav1.ConditionTrue)
	u.awaitReport(set, 1, 0, 0)
}
