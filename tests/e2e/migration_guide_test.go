// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/controlplane"
	"github.com/flux-pulumi/pulumi-controller/tests/process"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
	"github.com/flux-pulumi/pulumi-controller/tests/system"
)

// migration is an administrator who reads the pages of docs/migration and types what it says, in a cluster that has Flux, the
// operator v2 and Kubernetes' own controllers, but no kubelet: the controller is no pod here.
type migration struct {
	*tenant
	root, dir, crds          string
	guide, wayBack           *page
	installation             *page
	bare                     *barePulumi
	proven, failed, setAside *v1.Stack
	// specs are those that the Stacks had with the operator, by name.
	specs map[string]any
}

func TestTheMigrationGuideLeadsThereAndBack(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	m := newMigration(t)
	m.crds = m.installOperator()
	m.manage()
	m.bare = m.barePulumi(nil)
	m.proven = m.operatorRan("proven", "v1", []string{"a"}, []string{"a"}, v1.UpdateSucceeded)
	m.failed = m.operatorRan("failed", "v1alpha1", []string{"b"}, []string{"b", "c"}, v1.UpdateFailed)
	m.setAside = m.operatorRan("set-aside", "v1", []string{"d"}, []string{"d"}, v1.UpdateSucceeded)
	m.leftBehind(m.proven)
	m.specs = m.stored("v1")
	m.Expect(m.specs).To(HaveLen(3))

	m.foresees()
	m.stopOperator()
	m.replaceCRDs()
	m.install()
	m.takeOver()
	m.cleanUp()
	m.Expect(m.guide.untyped(there)).To(ConsistOf("kubectl delete -f", "kubectl apply", "pulumi cancel",
		"pulumi up", "pulumi destroy", "pulumi stack rm --force", "pulumi state delete",
		`kubectl -n <namespace> patch kustomization <name> --type=merge -p '{"spec":{"prune":false}}'`),
		"what one must not do, or need not, and what tests/bootstrap types")
	m.goBack()
	m.Expect(m.wayBack.untyped(back)).To(BeEmpty())
}

// newMigration starts a cluster with Flux.
func newMigration(t *testing.T) *migration {
	t.Helper()
	g := NewWithT(t)
	ctx, dir := ofItsOwn(t, "migration")
	root, err := process.RepoRoot()
	g.Expect(err).NotTo(HaveOccurred())
	plane, api := withFlux(ctx, t, filepath.Join(dir, "cluster"))
	m := &migration{dir: dir, root: root, tenant: moveIn(t, &world{dir: dir, System: &system.System{WithWatch: api, ControlPlane: plane}})}
	m.ctx = ctx
	m.guide, m.wayBack, m.installation = m.pageOf("migration/steps.md"), m.pageOf("migration/back.md"), m.pageOf("installation.md")
	return m
}

// manage starts the controllers of Kubernetes. They know the kinds of the operator from the beginning, as those of a
// cluster that has had them for a while.
func (m *migration) manage() {
	m.test.Helper()
	dir := filepath.Join(m.dir, "manager")
	m.Expect(os.Mkdir(dir, 0o755)).To(Succeed())
	manager, err := controlplane.StartControllerManager(m.ctx, m.ControlPlane, dir, dir,
		"deployment-controller", "replicaset-controller", "garbage-collector-controller")
	m.Expect(err).NotTo(HaveOccurred())
	m.test.Cleanup(func() { m.Expect(manager.Stop()).To(Succeed()) })
}

// kubectl returns what the shell prints for what is typed.
func (m *migration) kubectl(typed string) string {
	m.test.Helper()
	output, err := m.shell(m.root, typed)
	m.Expect(err).NotTo(HaveOccurred(), "%s: %s", typed, output)
	return output
}

// stored returns the specs of all Stacks in a version, by name.
func (m *migration) stored(version string) map[string]any {
	m.test.Helper()
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(schema.GroupVersionKind{Group: v1.GroupVersion.Group, Version: version, Kind: v1.StackKind + "List"})
	m.Eventually(func() error { return m.List(m.ctx, list) }).Should(Succeed())
	specs := map[string]any{}
	for _, item := range list.Items {
		m.Expect(item.GetFinalizers()).To(ConsistOf(v1.StackFinalizer))
		specs[item.GetName()] = item.Object["spec"]
	}
	return specs
}

// keepsAll expects all Stacks of the operator as they were, in both versions.
func (m *migration) keepsAll() {
	m.test.Helper()
	for _, version := range []string{"v1", "v1alpha1"} {
		m.Eventually(func() map[string]any { return m.stored(version) }).Should(Equal(m.specs), version)
	}
	m.Expect(strings.Fields(m.kubectl("kubectl get programs -A -o name"))).To(HaveLen(3))
}
