// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"fmt"
	"maps"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/flux-pulumi/pulumi-controller/config"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/cluster"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/manifests"
	"github.com/flux-pulumi/pulumi-controller/tests/controlplane"
)

// empty is an API server without CRDs, for one test after the other.
var (
	empty      controlplane.Shared
	usingEmpty sync.Mutex
)

// emptyCluster has that API server until the end of the test.
func emptyCluster(t *testing.T) *world {
	t.Helper()
	g := NewWithT(t)
	usingEmpty.Lock()
	t.Cleanup(usingEmpty.Unlock)
	plane, err := empty.Start()
	g.Expect(err).NotTo(HaveOccurred())
	scheme, err := cluster.Scheme()
	g.Expect(err).NotTo(HaveOccurred())
	w := &world{t: t, namespace: "flux-system", kubeconfig: plane.KubeconfigPath(), env: testEnvironment()}
	w.api, err = client.NewWithWatch(plane.RESTConfig(), client.Options{Scheme: scheme})
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(w.uninstall)
	return w
}

// uninstall deletes all that can be installed, and then the namespace, as Kubernetes' controllers would.
func (w *world) uninstall() {
	w.t.Helper()
	g := NewWithT(w.t)
	ctx := context.Background()
	text, err := manifests.Build(config.Files, manifests.Options{Namespace: w.namespace, Tag: "v1.2.3", Jobs: true})
	g.Expect(err).NotTo(HaveOccurred())
	objects, err := manifests.Objects(text)
	g.Expect(err).NotTo(HaveOccurred())
	for _, object := range objects {
		g.Expect(client.IgnoreNotFound(w.api.Delete(ctx, object))).To(Succeed())
	}
	// Where the API server meets a conflict while it deletes a CRD, it continues when the CRD has changed again, see
	// TestCRDsThatAreRemovedAreWaitedFor of internal/controller.
	g.Eventually(func() []string {
		names := w.crds(ctx)
		for _, name := range names {
			crd := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: name}}
			touch := fmt.Sprintf(`{"metadata": {"annotations": {"tests.example.com/touched": "%d"}}}`, time.Now().UnixNano())
			g.Expect(client.IgnoreNotFound(w.api.Patch(ctx, crd, client.RawPatch(types.MergePatchType, []byte(touch))))).To(Succeed())
		}
		return names
	}, time.Minute, time.Second).Should(BeEmpty())
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.namespace}}
	g.Expect(client.IgnoreNotFound(w.api.Delete(ctx, namespace))).To(Succeed())
	g.Expect(client.IgnoreNotFound(w.api.SubResource("finalize").Update(ctx, namespace))).To(Succeed())
}

func TestInstall(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	w := emptyCluster(t)
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
		"install",
	)
	g.Expect(w.crds(t.Context())).To(BeEmpty(), "without the namespace, nothing is installed")

	g.Expect(w.api.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.namespace}})).To(Succeed())
	w.deployAsIfByKubernetes()
	w.golden("install",
		"install",
		"install --tag v1.2.4 --image registry.example.com/pulumi-controller",
	)
	g.Expect(w.api.Patch(t.Context(), &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: controllerName}},
		client.RawPatch(types.StrategicMergePatchType, []byte(`{"spec": {"template": {"spec": {"containers":
			[{"name": "proxy", "image": "registry.example.com/proxy:3", "args": ["--runner=job"]}]}}}}`)))).To(Succeed())
	w.golden("install_again",
		"install --runner job",
		"install --tag v1.2.4",
		"install --runner local --image ghcr.io/flux-pulumi/pulumi-controller",
		"install --runner pod",
		"install --image-variant nodejs",
		"install --tag v1.2.5",
		"install --tag v1.2.5 --image-variant=",
		"install --image-variant cobol",
		"check",
		"get stacks",
	)

	apps := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "apps"}}
	g.Expect(client.IgnoreAlreadyExists(w.api.Create(t.Context(), apps))).To(Succeed()) // with -count
	w.golden("install_elsewhere", "install -n apps")
	g.Expect(w.api.Get(t.Context(), client.ObjectKey{Namespace: "apps", Name: controllerName}, &appsv1.Deployment{})).NotTo(Succeed())
}

func TestCheckWaitsForTheController(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t, "check")
	w.env.PollInterval = slowPolls
	deployment := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "pulumi-controller", Labels: map[string]string{componentLabel: controllerName}},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "a"}},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "a"}},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "manager", Image: "a", Args: []string{"--default-service-account=default"}}}},
			},
		},
	}
	g.Expect(w.api.Create(t.Context(), deployment)).To(Succeed())
	t.Cleanup(func() { _ = w.api.Delete(context.Background(), deployment) })
	done := w.run("check --timeout 5s")
	g.Expect(done.exit).To(Equal(exitFailed))
	g.Expect(done.err).To(ContainSubstring("✗ pulumi-controller: deployment not ready: timed out after 5s waiting for Deployment pulumi-controller: "))
	g.Expect(done.err).To(MatchRegexp(`\n► a\n⚠️ pulumi-controller: --default-service-account does not restrict .*\n► pulumi-controller: local runs are in a sandbox .*\n✗ check failed\n$`))
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
			// After a conflict or a deletion there is another event.
			err := client.IgnoreNotFound(w.api.Status().Update(ctx, deployment))
			if err != nil && !apierrors.IsConflict(err) && ctx.Err() == nil {
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

// TestInstallReplacesNothing installs over what others have installed or changed.
func TestInstallReplacesNothing(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	w := emptyCluster(t)
	g.Expect(w.api.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.namespace}})).To(Succeed())
	w.deployAsIfByKubernetes()
	editor := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "pulumi-edit"}}
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "pulumi-controller"}}
	stacks := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: "stacks.pulumi.com"}}
	get := func(object client.Object) client.Object {
		g.Expect(w.api.Get(t.Context(), client.ObjectKeyFromObject(object), object)).To(Succeed())
		return object
	}
	patch := func(manager client.FieldOwner, object client.Object, kind types.PatchType, text string) {
		g.Expect(w.api.Patch(t.Context(), object, client.RawPatch(kind, []byte(text)), manager)).To(Succeed())
	}

	w.applyLockdown("kubectl")
	locked := get(deployment).GetGeneration()
	w.golden("install_refuses", "install")
	g.Expect(w.crds(t.Context())).To(BeEmpty())
	g.Expect(get(deployment).GetGeneration()).To(Equal(locked))
	g.Expect(get(editor).GetLabels()).NotTo(HaveKey("rbac.authorization.k8s.io/aggregate-to-edit"))

	patch("kubectl-annotate", deployment, types.MergePatchType, `{"metadata": {"annotations": {"example.com/kept": "true"}}}`)
	w.golden("install_force", "install --force", "install --tag v1.2.4")
	g.Expect(get(editor).GetLabels()).To(HaveKey("rbac.authorization.k8s.io/aggregate-to-edit"))

	patch("kubectl-patch", deployment, types.JSONPatchType, `[{"op": "replace", "path": "/spec/template/spec/volumes/0",
		"value": {"name": "data", "persistentVolumeClaim": {"claimName": "data"}}}]`)
	g.Expect(w.api.Delete(t.Context(), stacks)).To(Succeed())
	g.Eventually(w.crds, time.Minute).WithContext(t.Context()).Should(ConsistOf("policysets.pulumi.com", "programs.pulumi.com"))
	w.golden("install_refused_by_the_server", "install --tag v1.2.4", "install --tag v1.2.4 --force")
	g.Expect(get(deployment).GetAnnotations()).To(HaveKey("example.com/kept"), "--force leaves what it does not set")
	g.Expect(w.crds(t.Context())).To(ConsistOf("policysets.pulumi.com", "programs.pulumi.com"))

	g.Expect(w.api.Delete(t.Context(), deployment)).To(Succeed())
	g.Expect(w.run("install --crds=false").exit).To(Equal(0))
	g.Expect(w.crds(t.Context())).To(ConsistOf("policysets.pulumi.com", "programs.pulumi.com"))
	g.Expect(w.run("install").exit).To(Equal(0))
	patch("helm", get(stacks), types.JSONPatchType, `[{"op": "remove", "path": "/metadata/labels"},
		{"op": "replace", "path": "/spec/versions/0/schema/openAPIV3Schema", "value": {"type": "object"}}]`)
	patch("kubectl-scale", deployment, types.MergePatchType, `{"spec": {"replicas": 2}}`)
	patch("kubectl-edit", deployment, types.MergePatchType, `{"spec": {"strategy": {"rollingUpdate": {"maxSurge": 0}}}}`)
	w.golden("install_crds", "install", "install --crds=false --force")
	g.Expect(get(stacks).GetLabels()).To(BeEmpty())
}

// applyLockdown applies the controller without its CRDs, as config/multi-tenancy has it.
func (w *world) applyLockdown(manager client.FieldOwner) {
	w.t.Helper()
	g := NewWithT(w.t)
	text, err := manifests.Build(config.Files, manifests.Options{Namespace: w.namespace, Tag: "v1.2.3", WithoutCRDs: true})
	g.Expect(err).NotTo(HaveOccurred())
	objects, err := manifests.Objects(text)
	g.Expect(err).NotTo(HaveOccurred())
	for _, object := range objects {
		switch {
		case object.GetKind() == "Deployment":
			containers, _, err := unstructured.NestedSlice(object.Object, "spec", "template", "spec", "containers")
			g.Expect(err).NotTo(HaveOccurred())
			manager := containers[0].(map[string]any)
			manager["args"] = append(manager["args"].([]any), "--no-cross-namespace-refs=true")
			g.Expect(unstructured.SetNestedSlice(object.Object, containers, "spec", "template", "spec", "containers")).To(Succeed())
		case object.GetName() == "pulumi-edit":
			labels := object.GetLabels()
			maps.DeleteFunc(labels, func(label, _ string) bool { return strings.Contains(label, "/aggregate-to-") })
			object.SetLabels(labels)
		}
		g.Expect(w.api.Apply(w.t.Context(), client.ApplyConfigurationFromUnstructured(object), manager)).To(Succeed())
	}
}

// crds returns the names of all CRDs of the cluster.
func (w *world) crds(ctx context.Context) (names []string) {
	w.t.Helper()
	list := &apiextensionsv1.CustomResourceDefinitionList{}
	NewWithT(w.t).Expect(w.api.List(ctx, list)).To(Succeed())
	for _, crd := range list.Items {
		names = append(names, crd.Name)
	}
	return names
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
	g.Expect(w.run("install --export --crds=false --runner job").out).To(ContainSubstring("- --runner=job\n"))
	g.Expect(w.run("install --export --crds=false --image localhost:5000/a/b --tag v1").out).To(ContainSubstring("image: localhost:5000/a/b:v1"))
	g.Expect(local).To(ContainSubstring("kind: CustomResourceDefinition\n"))
	g.Expect(w.run("install --export --crds=false").out).To(And(ContainSubstring("kind: Deployment\n"), Not(ContainSubstring("CustomResourceDefinition"))))
	for _, image := range []string{"a/b:v1", "a/b@sha256:abc"} {
		refused := w.run("install --export --image " + image)
		g.Expect(refused.exit).To(Equal(1))
		g.Expect(refused.out).To(BeEmpty())
		g.Expect(refused.err).To(ContainSubstring("set the tag with --tag"))
	}
	for _, flag := range []string{"--image=Bad", "--image=bad^image", "--tag=bad^tag", "--tag=a:b", "--tag=" + strings.Repeat("a", 129), "--image=a/b --tag=v1@sha256:a"} {
		refused := w.run("install --export " + flag)
		g.Expect(refused.exit).To(Equal(1), flag)
		g.Expect(refused.out).To(BeEmpty(), flag)
		g.Expect(refused.err).To(ContainSubstring("invalid name of the controller's image"), flag)
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
			g.Expect(Run(t.Context(), env, append([]string{"create", "stack", "a", "--stack=dev", "--program=a", "--export", "--kubeconfig", file}, tc.args...))).To(Equal(0))
			g.Expect(out.String()).To(ContainSubstring("namespace: " + tc.want + "\n"))
		})
	}
}
