// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/flux-pulumi/pulumi-controller/internal/cli/cluster"
	"github.com/flux-pulumi/pulumi-controller/tests/controlplane"
)

// TestInstall starts with an empty cluster.
func TestInstall(t *testing.T) {
	g := NewWithT(t)
	dir, err := os.MkdirTemp("", "cli-install")
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	plane, err := controlplane.Start(context.Background(), controlplane.Options{Dir: dir})
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { _ = plane.Stop() })
	scheme, err := cluster.Scheme()
	g.Expect(err).NotTo(HaveOccurred())
	w := &world{t: t, namespace: "flux-system", kubeconfig: plane.KubeconfigPath(), env: testEnvironment()}
	w.api, err = client.NewWithWatch(plane.RESTConfig(), client.Options{Scheme: scheme})
	g.Expect(err).NotTo(HaveOccurred())

	w.golden("without_crds",
		"get stacks",
		"get all",
		"get stack a -o yaml",
		"reconcile stack a",
		"suspend stack --all",
		"create stack a --stack dev --program a",
		"events --for Stack/a",
		"logs",
		"check --pre",
		"check",
	)

	g.Expect(w.api.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.namespace}})).To(Succeed())
	w.deployAsIfByKubernetes()
	w.golden("install",
		"install",
		"install --tag v1.2.4 --image registry.example.com/pulumi-controller",
		"install --runner job",
		"install --runner pod",
		"check",
		"get stacks",
	)
}

func TestCheckWaitsForTheController(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t, "check")
	deployment := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "pulumi-controller", Labels: map[string]string{componentLabel: controllerName}},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "a"}},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "a"}},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "manager", Image: "a"}}},
			},
		},
	}
	g.Expect(w.api.Create(t.Context(), deployment)).To(Succeed())
	t.Cleanup(func() { _ = w.api.Delete(context.Background(), deployment) })
	done := w.run("check --timeout 5s")
	g.Expect(done.exit).To(Equal(exitFailed))
	g.Expect(done.err).To(ContainSubstring("✗ pulumi-controller: deployment not ready: timed out after 5s waiting for Deployment pulumi-controller: "))
	g.Expect(done.err).To(HaveSuffix("\n► a\n✗ check failed\n"))
	ended := make(chan result, 1)
	go func() { ended <- w.run("check") }()
	g.Consistently(ended, "200ms").ShouldNot(Receive())
	w.deployAsIfByKubernetes()
	var last result
	g.Eventually(ended, time.Minute).Should(Receive(&last))
	g.Expect(last.err).To(ContainSubstring("✔ pulumi-controller: deployment ready\n► a\n"))
}

// deployAsIfByKubernetes marks each Deployment as ready.
func (w *world) deployAsIfByKubernetes() {
	w.t.Helper()
	ctx, stop := context.WithCancel(w.t.Context())
	watcher, err := w.api.Watch(ctx, &appsv1.DeploymentList{})
	NewWithT(w.t).Expect(err).NotTo(HaveOccurred())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for event := range watcher.ResultChan() {
			deployment, ok := event.Object.(*appsv1.Deployment)
			if !ok || event.Type == watch.Deleted || deployment.Status.ObservedGeneration == deployment.Generation {
				continue
			}
			deployment.Status = appsv1.DeploymentStatus{
				ObservedGeneration: deployment.Generation, Replicas: 1, UpdatedReplicas: 1, ReadyReplicas: 1, AvailableReplicas: 1,
				Conditions: []appsv1.DeploymentCondition{
					{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue},
					{Type: appsv1.DeploymentProgressing, Status: corev1.ConditionTrue, Reason: "NewReplicaSetAvailable"},
				},
			}
			if err := w.api.Status().Update(ctx, deployment); err != nil && ctx.Err() == nil {
				w.t.Error(err)
			}
		}
	}()
	w.t.Cleanup(func() {
		stop()
		watcher.Stop()
		<-done
	})
}

func TestInstallExports(t *testing.T) {
	g := NewWithT(t)
	w := &world{t: t, namespace: "flux-system", env: testEnvironment()}
	released := w.run("install --export -n tools")
	g.Expect(released.exit).To(Equal(0), released.err)
	g.Expect(released.out).To(And(ContainSubstring("pulumi-controller:v1.2.3"), ContainSubstring("namespace: tools")))
	w.env.Version = "0.0.0-dev.0"
	local := w.run("install --export").out
	g.Expect(local).To(And(ContainSubstring("pulumi-controller:latest"), Not(ContainSubstring("- --runner=job\n"))))
	g.Expect(w.run("install --export --runner local").out).To(Equal(local))
	g.Expect(w.run("install --export --runner job").out).To(ContainSubstring("- --runner=job\n"))
	g.Expect(w.run("install --export --image localhost:5000/a/b --tag v1").out).To(ContainSubstring("image: localhost:5000/a/b:v1"))
	for _, image := range []string{"a/b:v1", "a/b@sha256:abc"} {
		refused := w.run("install --export --image " + image)
		g.Expect(refused.exit).To(Equal(1))
		g.Expect(refused.out).To(BeEmpty())
		g.Expect(refused.err).To(ContainSubstring("give its tag by --tag"))
	}
	for _, flag := range []string{"--image=Bad", "--image=bad^image", "--tag=bad^tag", "--tag=a:b", "--tag=" + strings.Repeat("a", 129), "--image=a/b --tag=v1@sha256:a"} {
		refused := w.run("install --export " + flag)
		g.Expect(refused.exit).To(Equal(1), flag)
		g.Expect(refused.out).To(BeEmpty(), flag)
		g.Expect(refused.err).To(ContainSubstring("the image of the controller cannot have this name"), flag)
	}
}

func TestWithoutACluster(t *testing.T) {
	g := NewWithT(t)
	file := t.TempDir() + "/kubeconfig"
	g.Expect(os.WriteFile(file, []byte(`{apiVersion: v1, kind: Config, current-context: away, clusters: [{name: away, cluster: {server: "http://127.0.0.1:9"}}],
		contexts: [{name: away, context: {cluster: away, namespace: apps}}]}`), 0o600)).To(Succeed())
	w := &world{t: t, namespace: "apps", kubeconfig: file, env: testEnvironment()}
	w.golden("without_cluster",
		"get stacks",
		"reconcile stack a",
		"check",
		"get stacks --context absent",
		"version",
		"nothing",
		"reconcile stack a --no-such-flag",
		"outputs stack a -o table",
		"tree stack a -o table",
		"debug stack a --runner pod",
	)
	w.kubeconfig = t.TempDir() + "/absent"
	absent := w.run("get stacks")
	g.Expect(absent.exit).To(Equal(1))
	g.Expect(absent.err).To(ContainSubstring("no such file or directory"))
}

func TestNamespaceOfACommand(t *testing.T) {
	for name, tc := range map[string]struct {
		args []string
		env  map[string]string
		want string
	}{
		"is that of Flux":                    {want: "flux-system"},
		"may be another one of Flux":         {env: map[string]string{"FLUX_SYSTEM_NAMESPACE": "flux"}, want: "flux"},
		"may be that of the context":         {args: []string{"--ns-follows-kube-context"}, want: "apps"},
		"may be that of the context always":  {env: map[string]string{"FLUX_NS_FOLLOWS_KUBE_CONTEXT": "1"}, want: "apps"},
		"is the one that is given otherwise": {args: []string{"-n", "other", "--ns-follows-kube-context"}, want: "other"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			file := t.TempDir() + "/kubeconfig"
			g.Expect(os.WriteFile(file, []byte(`{apiVersion: v1, kind: Config, current-context: away, clusters: [{name: away, cluster: {server: "http://127.0.0.1:9"}}],
				contexts: [{name: away, context: {cluster: away, namespace: apps}}]}`), 0o600)).To(Succeed())
			env := testEnvironment()
			env.Getenv = func(name string) string { return tc.env[name] }
			var out stopWriter
			out.text, out.stop = "never", func() {}
			env.Out, env.Err = &out, &out
			g.Expect(Run(t.Context(), env, append([]string{"install", "--export", "--kubeconfig", file}, tc.args...))).To(Equal(0))
			g.Expect(out.String()).To(ContainSubstring("namespace: " + tc.want + "\n"))
		})
	}
}
