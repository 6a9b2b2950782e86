// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/cluster"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/migration"
	"github.com/flux-pulumi/pulumi-controller/tests/controlplane"
	"github.com/flux-pulumi/pulumi-controller/tests/operator"
	"github.com/flux-pulumi/pulumi-controller/tests/process"
)

// operated is an API server with the CRDs of the Pulumi operator v2, and with those of
// source-controller, but with none of this project.
var operated = controlplane.Shared{CRDPaths: func() ([]string, error) {
	text, err := operator.Manifest()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "operator-crds")
	if err != nil {
		return nil, err
	}
	sources, err := process.FindBin(filepath.Join("crds", "source-controller"))
	if err != nil {
		return nil, err
	}
	return []string{dir, sources}, os.WriteFile(filepath.Join(dir, "crds.yaml"), text, 0o600)
}}

// operatedWorld is a namespace of that API server.
func operatedWorld(t *testing.T, namespace string) *world {
	t.Helper()
	g := NewWithT(t)
	plane, err := operated.Start()
	g.Expect(err).NotTo(HaveOccurred())
	scheme, err := cluster.Scheme()
	g.Expect(err).NotTo(HaveOccurred())
	w := &world{t: t, namespace: namespace, kubeconfig: plane.KubeconfigPath(), env: testEnvironment()}
	w.api, err = client.NewWithWatch(plane.RESTConfig(), client.Options{Scheme: scheme})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(client.IgnoreAlreadyExists(w.api.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}))).To(Succeed())
	return w
}

// versions returns the resource versions of all objects of the operator in the namespace, and of the Secrets.
func (w *world) versions() map[string]string {
	w.t.Helper()
	found := map[string]string{}
	for _, kind := range []schema.GroupVersionKind{
		{Group: "pulumi.com", Version: "v1", Kind: "StackList"}, {Group: "pulumi.com", Version: "v1", Kind: "ProgramList"},
		{Group: operatorGroup, Version: "v1alpha1", Kind: "WorkspaceList"}, {Group: operatorGroup, Version: "v1alpha1", Kind: "UpdateList"},
		{Version: "v1", Kind: "SecretList"}, {Version: "v1", Kind: "ConfigMapList"}, {Group: "source.toolkit.fluxcd.io", Version: "v1", Kind: "GitRepositoryList"},
		{Group: "apps", Version: "v1", Kind: "DeploymentList"},
	} {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(kind)
		NewWithT(w.t).Expect(w.api.List(w.t.Context(), list, client.InNamespace(w.namespace))).To(Succeed())
		for _, item := range list.Items {
			found[item.GetKind()+"/"+item.GetName()] = item.GetResourceVersion()
		}
	}
	return found
}

func TestCheckOfAMigrationSaysWhatHappensToEachStack(t *testing.T) {
	g := NewWithT(t)
	w := operatedWorld(t, "operated")
	w.apply("operator")
	before := w.versions()

	w.golden("check_migration", "check --migration -n operated", "check --migration -n operated --runner=job", "check --migration --output yaml --pre",
		"check --runner=job", "check --migration --runner=other", "check --migration -o xml")
	g.Expect(w.versions()).To(Equal(before), "nothing has changed")

	done := w.run("check --migration -o json -n operated")
	g.Expect(done.exit).To(Equal(exitFailed))
	var report migration.Report
	g.Expect(json.Unmarshal([]byte(done.out), &report)).To(Succeed())
	outcomes := map[string]migration.Outcome{}
	for _, stack := range report.Stacks {
		outcomes[stack.Name] = stack.Outcome
	}
	g.Expect(outcomes).To(Equal(map[string]migration.Outcome{
		"branch": migration.TakenOver, "edited": migration.Runs, "faulty": migration.EditFirst, "updating": migration.WaitFirst,
		"tokenless": migration.EditFirst, "program": migration.Runs,
	}))
	g.Expect(done.out + done.err).NotTo(ContainSubstring("pul-0123456789"))
}

// A person who may read less sees less, and is shown what that is.
func TestCheckOfAMigrationUsesThePersonsRights(t *testing.T) {
	g := NewWithT(t)
	w := operatedWorld(t, "operated-reader")
	w.apply("operator")
	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "reader"}, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{"pulumi.com"}, Resources: []string{"stacks"}, Verbs: []string{"get", "list"}},
	}}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: role.ObjectMeta, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "reader"},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: "reader"}},
	}
	g.Expect(w.api.Create(t.Context(), role)).To(Succeed())
	g.Expect(w.api.Create(t.Context(), binding)).To(Succeed())
	g.Eventually(func() string { return w.run("check --migration --as reader -n operated-reader").out }, time.Minute).Should(ContainSubstring("OUTCOME"))
	done := w.run("check --migration --as reader -n operated-reader")
	g.Expect(done.exit).To(Equal(exitFailed))
	g.Expect(done.out).To(And(
		MatchRegexp(`(?m)^operated-reader\s+branch\s+v2\s+`),
		ContainSubstring(`note: you are not allowed to read this, so the outcome may differ: `)))
	g.Expect(done.err).To(And(ContainSubstring("not looked at: workspaces.auto.pulumi.com is forbidden"), ContainSubstring("not looked at: deployments.apps is forbidden")))

	var out, errs strings.Builder
	env := w.env
	env.Out, env.Err = &out, &errs
	exit := Run(t.Context(), env, []string{"check", "--migration", "--as", "reader", "--kubeconfig", w.kubeconfig})
	g.Expect(exit).To(Equal(exitFailed))
	g.Expect(errs.String()).To(MatchRegexp(`stacks.pulumi.com is forbidden.*: name a namespace with --namespace`))
}

func TestCheckOfAMigrationWithoutTheOperator(t *testing.T) {
	w := emptyCluster(t)
	done := w.run("check --migration")
	g := NewWithT(t)
	g.Expect(done.exit).To(Equal(exitFailed))
	g.Expect(done.err).To(Equal("✗ this cluster has no kind Stack of pulumi.com/v1: there is nothing to migrate\n"))
}

// A cluster that has the operator alone is shown what of Flux it lacks.
func TestCheckOfAMigrationNamesWhatTheClusterLacks(t *testing.T) {
	g := NewWithT(t)
	w := emptyCluster(t)
	g.Expect(w.api.Create(t.Context(), operator.StackCRD(true))).To(Succeed())
	stack := &v1.Stack{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"}}
	stack.Spec.Stack, stack.Spec.ProjectRepo, stack.Spec.Branch = "acme/web/prod", "https://git.example.com/acme/web.git", "main"
	g.Eventually(func() error { return w.api.Create(t.Context(), stack) }, time.Minute).Should(Succeed())
	done := w.run("check --migration -n default")
	g.Expect(done.exit).To(Equal(exitFailed))
	g.Expect(done.out).To(MatchRegexp(`(?m)^default\s+web\s+EditFirst\s`))
	g.Expect(done.err).To(ContainSubstring("✗ the cluster has no source-controller, which projectRepo and fluxSource need: flux install --components=source-controller"))
}
