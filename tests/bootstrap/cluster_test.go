// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package bootstrap

import (
	"context"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/flux-pulumi/pulumi-controller/tests/cloud"
	"github.com/flux-pulumi/pulumi-controller/tests/controlplane"
	"github.com/flux-pulumi/pulumi-controller/tests/manifests"
	"github.com/flux-pulumi/pulumi-controller/tests/process"
	"github.com/flux-pulumi/pulumi-controller/tests/sources"
	"github.com/flux-pulumi/pulumi-controller/tests/system"
)

const (
	// patience is long because the machine may be busy.
	patience = 4 * time.Minute
	polling  = 50 * time.Millisecond

	fluxSystem = "flux-system"
)

var (
	kustomizations = schema.GroupVersionKind{Group: "kustomize.toolkit.fluxcd.io", Version: "v1", Kind: "Kustomization"}
	stacks         = schema.GroupVersionKind{Group: "pulumi.com", Version: "v1", Kind: "Stack"}
	deployments    = appsv1.SchemeGroupVersion.WithKind("Deployment")
	configMaps     = corev1.SchemeGroupVersion.WithKind("ConfigMap")
	crds           = schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"}
)

// cluster is a cluster after flux bootstrap, with the repository that it follows.
type cluster struct {
	*WithT
	client.WithWatch
	test *testing.T
	ctx  context.Context
	dir  string

	plane         *controlplane.ControlPlane
	notifications *controlplane.NotificationController
	history       *history

	git *sources.GitServer
	// fleet is the repository of the cluster, and project that of this project.
	fleet, project *sources.GitRepo
	projectFiles   sources.Files
	projectCommit  string
	cloud          *cloud.Cloud
	chat           *chat
}

// bootstrapped does the same as flux bootstrap, with the flux-system directory of the guide.
func bootstrapped(test *testing.T, fluxSystemFiles sources.Files) *cluster {
	test.Helper()
	c := &cluster{
		WithT: NewWithT(test), test: test, ctx: test.Context(), dir: test.TempDir(),
		history: &history{moments: map[string][]moment{}},
	}
	c.SetDefaultEventuallyTimeout(patience)
	c.SetDefaultEventuallyPollingInterval(polling)
	for _, name := range []string{"git", "built", "controlplane", "flux", "backend", "cloud"} {
		c.Expect(os.Mkdir(c.path(name), 0o755)).To(Succeed())
	}
	c.cloud = cloud.Open(c.path("cloud"))
	c.serveGit()
	files := c.gotk(fluxSystemFiles)
	built := c.build(files)
	c.startPlane()
	c.startFlux(c.flagsOfKustomizeController(built))
	c.Expect(c.Create(c.ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: fluxSystem}})).To(Succeed())
	for _, kind := range []schema.GroupVersionKind{kustomizations, deployments, configMaps, crds} {
		c.Expect(c.history.watch(c.ctx, c, kind)).To(Succeed())
	}
	var alerting sources.Files
	c.chat, alerting = alerts(test)
	maps.Copy(files, alerting)
	c.commit(files)
	for _, object := range c.objectsOf(files[inFluxSystem("gotk-sync.yaml")]) {
		c.Expect(c.Create(c.ctx, object)).To(Succeed())
	}
	return c
}

func (c *cluster) path(elements ...string) string {
	return filepath.Join(append([]string{c.dir}, elements...)...)
}

func inFluxSystem(name string) string { return "clusters/production/flux-system/" + name }

// serveGit creates the repository of the cluster, and that of this project with the files of the work tree.
func (c *cluster) serveGit() {
	c.test.Helper()
	var err error
	c.git, err = sources.NewGitServer(c.path("git"))
	c.Expect(err).NotTo(HaveOccurred())
	c.test.Cleanup(func() { c.Expect(c.git.Close()).To(Succeed()) })
	c.fleet, err = c.git.NewRepo(c.ctx, "fleet")
	c.Expect(err).NotTo(HaveOccurred())
	c.project, err = c.git.NewRepo(c.ctx, "pulumi-controller")
	c.Expect(err).NotTo(HaveOccurred())
	root, err := process.RepoRoot()
	c.Expect(err).NotTo(HaveOccurred())
	config, err := sources.ReadDir(filepath.Join(root, "config"))
	c.Expect(err).NotTo(HaveOccurred())
	c.projectFiles = sources.Files{}
	for name, content := range config {
		c.projectFiles["config/"+name] = content
	}
	c.projectCommit, err = c.project.Commit(c.ctx, c.projectFiles, "first")
	c.Expect(err).NotTo(HaveOccurred())
}

// kustomizeController is the part that the guide's patch applies to: no node runs it.
const kustomizeController = `---
apiVersion: apps/v1
kind: Deployment
metadata: {name: kustomize-controller, namespace: flux-system}
spec:
  selector: {matchLabels: {app: kustomize-controller}}
  template:
    metadata: {labels: {app: kustomize-controller}}
    spec:
      containers:
        - name: manager
          image: ghcr.io/fluxcd/kustomize-controller
          args: [--watch-all-namespaces=true, --log-level=info, --log-encoding=json]
`

// gotk adds what flux bootstrap writes itself. The CRDs of Flux, which it has in the same file, the API server has from the
// start: to apply them with each commit would show nothing, and take a second.
func (c *cluster) gotk(files sources.Files) sources.Files {
	files[inFluxSystem("gotk-components.yaml")] = "apiVersion: v1\nkind: Namespace\nmetadata: {name: flux-system}\n" + kustomizeController
	files[inFluxSystem("gotk-sync.yaml")] = `apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: flux-system, namespace: flux-system}
spec:
  interval: 1m0s
  ref: {branch: ` + sources.Branch + `}
  url: ` + c.fleet.URL() + `
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: flux-system, namespace: flux-system}
spec:
  interval: 10m0s
  path: ./clusters/production
  prune: true
  sourceRef: {kind: GitRepository, name: flux-system}
`
	return files
}

// build returns the output of kustomize for the flux-system directory.
func (c *cluster) build(files sources.Files) string {
	c.test.Helper()
	for path, content := range files {
		c.Expect(os.WriteFile(c.path("built", filepath.Base(path)), []byte(content), 0o644)).To(Succeed())
	}
	built, err := controlplane.Kustomize(c.ctx, c.path("built"))
	c.Expect(err).NotTo(HaveOccurred())
	return string(built)
}

// startPlane starts an API server with the CRDs of Flux only.
func (c *cluster) startPlane() {
	c.test.Helper()
	var paths []string
	for _, controller := range []string{"source-controller", "kustomize-controller", "notification-controller"} {
		path, err := process.FindBin(filepath.Join("crds", controller))
		c.Expect(err).NotTo(HaveOccurred())
		paths = append(paths, path)
	}
	var err error
	c.plane, err = controlplane.Start(context.WithoutCancel(c.ctx), controlplane.Options{
		Dir: c.path("controlplane"), LogDir: c.dir, CRDPaths: paths,
	})
	c.Expect(err).NotTo(HaveOccurred())
	c.test.Cleanup(func() { c.Expect(c.plane.Stop()).To(Succeed()) })
	scheme, err := system.Scheme()
	c.Expect(err).NotTo(HaveOccurred())
	c.WithWatch, err = client.NewWithWatch(c.plane.RESTConfig(), client.Options{Scheme: scheme})
	c.Expect(err).NotTo(HaveOccurred())
	c.test.Cleanup(c.explain)
}

// startFlux starts three of Flux's controllers.
func (c *cluster) startFlux(flags []string) {
	c.test.Helper()
	ctx := context.WithoutCancel(c.ctx)
	var err error
	c.notifications, err = controlplane.StartNotificationController(ctx, c.plane,
		controlplane.NotificationControllerOptions{Dir: c.path("flux"), LogDir: c.dir})
	c.Expect(err).NotTo(HaveOccurred())
	c.test.Cleanup(func() { c.Expect(c.notifications.Stop()).To(Succeed()) })
	source, err := controlplane.StartSourceController(ctx, c.plane, controlplane.SourceControllerOptions{Dir: c.path("flux"), LogDir: c.dir})
	c.Expect(err).NotTo(HaveOccurred())
	c.test.Cleanup(func() { c.Expect(source.Stop()).To(Succeed()) })
	kustomize, err := controlplane.StartKustomizeController(ctx, c.plane, controlplane.KustomizeControllerOptions{
		Dir: c.path("flux"), LogDir: c.dir, EventsURL: c.notifications.EventsURL(), Args: flags,
	})
	c.Expect(err).NotTo(HaveOccurred())
	c.test.Cleanup(func() { c.Expect(kustomize.Stop()).To(Succeed()) })
}

// flagsOfKustomizeController returns the flags that the guide adds.
func (c *cluster) flagsOfKustomizeController(built string) (flags []string) {
	c.test.Helper()
	for _, object := range c.objectsOf(built) {
		if object.GetKind() != deployments.Kind {
			continue
		}
		for _, arg := range argsOf(c, object) {
			if !strings.Contains(kustomizeController, arg) {
				flags = append(flags, arg)
			}
		}
	}
	c.Expect(flags).To(HaveLen(1), "the flag that the guide adds")
	return flags
}

func argsOf(g Gomega, object *unstructured.Unstructured) []string {
	var deployment appsv1.Deployment
	g.Expect(runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &deployment)).To(Succeed())
	return deployment.Spec.Template.Spec.Containers[0].Args
}

func (c *cluster) objectsOf(text string) []*unstructured.Unstructured {
	c.test.Helper()
	objects, err := manifests.Unit{Text: text}.Objects()
	c.Expect(err).NotTo(HaveOccurred())
	return objects
}

// commit does git commit and git push, and returns Flux's revision for it.
func (c *cluster) commit(files sources.Files) string {
	c.test.Helper()
	commit, err := c.fleet.Commit(c.ctx, files, "change")
	c.Expect(err).NotTo(HaveOccurred())
	return sources.Branch + "@sha1:" + commit
}

// remove does git rm, git commit and git push.
func (c *cluster) remove(paths ...string) string {
	c.test.Helper()
	commit, err := c.fleet.Remove(c.ctx, "removal", paths...)
	c.Expect(err).NotTo(HaveOccurred())
	return sources.Branch + "@sha1:" + commit
}

// reconcile is flux reconcile kustomization flux-system --with-source. A new revision of the source is request enough for the
// Kustomization.
func (c *cluster) reconcile(revision string) {
	c.test.Helper()
	source := &sourcev1.GitRepository{ObjectMeta: metav1.ObjectMeta{Name: fluxSystem, Namespace: fluxSystem}}
	request := `{"metadata":{"annotations":{"` + meta.ReconcileRequestAnnotation + `":"` + revision + `"}}}`
	c.Expect(c.Patch(c.ctx, source, client.RawPatch("application/merge-patch+json", []byte(request)))).To(Succeed())
	c.awaitApplied(fluxSystem, revision)
}

// awaitApplied waits until the Kustomization is Ready for the revision.
func (c *cluster) awaitApplied(name, revision string) {
	c.test.Helper()
	c.Eventually(func(g Gomega) {
		object := c.kustomization(g, name)
		g.Expect(isReady(object)).To(BeTrue(), "%s: %v", name, object.Object["status"])
		if revision != "" {
			g.Expect(applied(object)).To(Equal(revision))
		}
	}).Should(Succeed())
}

func (c *cluster) kustomization(g Gomega, name string) *unstructured.Unstructured {
	return c.get(g, kustomizations, fluxSystem, name)
}

func (c *cluster) get(g Gomega, kind schema.GroupVersionKind, namespace, name string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(kind)
	g.Expect(c.Get(c.ctx, client.ObjectKey{Namespace: namespace, Name: name}, object)).To(Succeed())
	return object
}

// inOrder expects that one thing became true before the other.
func (c *cluster) inOrder(first string, is func(moment) bool, then string, thenIs func(moment) bool) {
	c.test.Helper()
	c.Eventually(func(g Gomega) {
		g.Expect(c.history.first(first, is)).NotTo(BeZero(), "%s never was as it should be", first)
		g.Expect(c.history.first(then, thenIs)).NotTo(BeZero(), "%s never was as it should be", then)
	}).Should(Succeed())
	c.Expect(c.history.first(first, is)).To(BeNumerically("<", c.history.first(then, thenIs)), "%s came before %s", then, first)
}

// types runs a command of a page, with its placeholders replaced.
func (c *cluster) types(page, command string, replaced ...string) {
	c.test.Helper()
	c.Expect(page).To(ContainSubstring(command))
	c.runs(strings.Fields(strings.NewReplacer(replaced...).Replace(command))...)
}

// runs runs a tool in a clone of this repository.
func (c *cluster) runs(typed ...string) {
	c.test.Helper()
	tool, err := process.FindBin(typed[0])
	c.Expect(err).NotTo(HaveOccurred())
	root, err := process.RepoRoot()
	c.Expect(err).NotTo(HaveOccurred())
	command := exec.CommandContext(c.ctx, tool, typed[1:]...)
	command.Dir, command.Env = root, []string{"HOME=" + c.dir, "KUBECONFIG=" + c.plane.KubeconfigPath()}
	output, err := command.CombinedOutput()
	c.Expect(err).NotTo(HaveOccurred(), "%s: %s", typed, output)
}

// explain shows the details of a failed test.
func (c *cluster) explain() {
	if !c.test.Failed() {
		return
	}
	ctx := context.WithoutCancel(c.ctx)
	for _, kind := range []schema.GroupVersionKind{kustomizations, stacks} {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(kind)
		if err := c.List(ctx, list); err != nil {
			c.test.Logf("listing every %s: %v", kind.Kind, err)
		}
		for _, object := range list.Items {
			c.test.Logf("%s %s: %v", object.GetKind(), object.GetName(), object.Object["status"])
		}
	}
	for _, name := range []string{"kustomize-controller", "pulumi-controller", "source-controller"} {
		log, _ := os.ReadFile(c.path(name + ".log"))
		c.test.Logf("the end of the log of %s:\n%s", name, log[max(0, len(log)-8000):])
	}
}
