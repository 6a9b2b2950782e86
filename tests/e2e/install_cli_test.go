// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/flux-pulumi/pulumi-controller/tests/controlplane"
	"github.com/flux-pulumi/pulumi-controller/tests/process"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
	"github.com/flux-pulumi/pulumi-controller/tests/system"
)

const fluxSystem = "flux-system"

// TestTheFluxCommandLineInstallsTheController begins with a cluster that has only Flux. The controller is no pod here: it runs
// as the account that was installed.
func TestTheFluxCommandLineInstallsTheController(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	g := NewWithT(t)
	ctx, dir := ofItsOwn(t, "install")
	plane, api := withFlux(ctx, t, filepath.Join(dir, "cluster"))
	cli, err := system.NewFluxCLI(t.TempDir(), plane.KubeconfigPath())
	g.Expect(err).NotTo(HaveOccurred())

	before := begin(ctx, cli, "check")
	g.Eventually(before, patience).Should(Receive(And(HaveField("Exit", 1), HaveField("Stderr", And(
		ContainSubstring("✗ no controllers found in the 'flux-system' namespace"),
		ContainSubstring("✗ the API server does not serve stacks.pulumi.com/v1: install the controller: flux pulumi install\n"))))))

	install := begin(ctx, cli, "install")
	deployment := &appsv1.Deployment{}
	g.Eventually(func() error {
		return api.Get(ctx, client.ObjectKey{Namespace: fluxSystem, Name: "pulumi-controller"}, deployment)
	}, patience, polling).Should(Succeed())
	account := filepath.Join(dir, "account")
	g.Expect(plane.WriteAccountKubeconfig(ctx, account, fluxSystem, deployment.Spec.Template.Spec.ServiceAccountName)).To(Succeed())
	installed, err := newWorld(ctx, dir, system.Options{WithoutSources: true, ControlPlane: plane, Kubeconfig: account})
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { g.Expect(installed.Stop()).To(Succeed()) })
	g.Expect(install).NotTo(Receive(), "the controller is waited for")
	deployment.Status = rolledOut(deployment)
	g.Expect(api.Status().Update(ctx, deployment)).To(Succeed())
	g.Eventually(install, patience).Should(Receive(And(HaveField("Exit", 0), HaveField("Stderr",
		HaveSuffix("◎ verifying installation\n✔ pulumi-controller: deployment ready\n✔ install finished\n")))))
	after := begin(ctx, cli, "check")
	g.Eventually(after, patience).Should(Receive(And(HaveField("Exit", 0), HaveField("Stderr", HaveSuffix("✔ all checks passed\n")))))

	newFluxCLI(newTenant(t, installed)).createsAStack()
}

// withFlux is a cluster with the namespace of Flux and the CRDs of its sources.
func withFlux(ctx context.Context, t *testing.T, dir string) (*controlplane.ControlPlane, client.WithWatch) {
	t.Helper()
	g := NewWithT(t)
	crds, err := process.FindBin("crds/source-controller")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(os.Mkdir(dir, 0o755)).To(Succeed())
	plane, err := controlplane.Start(ctx, controlplane.Options{Dir: dir, CRDPaths: []string{crds}})
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { g.Expect(plane.Stop()).To(Succeed()) })
	scheme, err := system.Scheme()
	g.Expect(err).NotTo(HaveOccurred())
	api, err := client.NewWithWatch(plane.RESTConfig(), client.Options{Scheme: scheme})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(api.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: fluxSystem}})).To(Succeed())
	return plane, api
}

// rolledOut is what Kubernetes says of a Deployment whose pod is ready.
func rolledOut(deployment *appsv1.Deployment) appsv1.DeploymentStatus {
	return appsv1.DeploymentStatus{
		ObservedGeneration: deployment.Generation, Replicas: 1, UpdatedReplicas: 1, ReadyReplicas: 1, AvailableReplicas: 1,
		Conditions: []appsv1.DeploymentCondition{
			{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue},
			{Type: appsv1.DeploymentProgressing, Status: corev1.ConditionTrue, Reason: "NewReplicaSetAvailable"},
		},
	}
}

// createsAStack has the controller run a local program, by nothing but commands.
func (f *fluxCLI) createsAStack() {
	f.test.Helper()
	f.apply(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "app"}, StringData: map[string]string{"passphrase": passphrase}})
	file := filepath.Join(f.localDir(project("any", oneThing("one"))), "Pulumi.yaml")
	f.Expect(f.does("create", "program", "app", "--from-file", file)).To(ContainSubstring("✔ Program created\n"))
	f.Expect(f.does("create", "stack", "app", "--stack", "dev", "--program", "app", "--backend", f.backendURL(),
		"--config", "lab:directory="+f.place, "--secret-env", "PULUMI_CONFIG_PASSPHRASE=app/passphrase",
	)).To(MatchRegexp(`✔ Stack reconciliation completed\n✔ applied revision 1@sha256:\S+\n$`))
	f.Expect(f.things()).To(Equal(map[string]string{"a": "one"}))
}
