// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/flux-pulumi/pulumi-controller/tests/cluster"
	"github.com/flux-pulumi/pulumi-controller/tests/process"
	"github.com/flux-pulumi/pulumi-controller/tests/sources"
	"github.com/flux-pulumi/pulumi-controller/tests/system"
)

const (
	// patience is long because the machine may be busy.
	patience = 4 * time.Minute
	polling  = 200 * time.Millisecond

	fluxSystem = "flux-system"
	controller = "pulumi-controller"
)

// world is a cluster, and the servers on this machine for it.
type world struct {
	*WithT
	client.WithWatch
	test *testing.T
	ctx  context.Context

	// node is nil on an existing cluster.
	node       *cluster.Cluster
	kubeconfig string
	// host is the address of this machine as pods see it.
	host string
	root string

	// tenant is the namespace of the Stacks, and bucket has their state.
	tenant, bucket string
	// workspace is the spec.workspaceTemplate of the Stacks, or empty if the controller itself runs them.
	workspace string

	git *sources.GitServer
	s3  *sources.S3Server
	// hook receives the events of notification-controller.
	hook *hook
}

// in returns the same world for a subtest.
func (w *world) in(t *testing.T) *world {
	within := *w
	within.test, within.WithT = t, NewWithT(explaining{t, within.explain})
	within.SetDefaultEventuallyTimeout(patience)
	within.SetDefaultEventuallyPollingInterval(polling)
	return &within
}

// explaining explains a failure before its message, as CI may show no more than the end of a log.
type explaining struct {
	*testing.T
	explain func()
}

func (e explaining) Fatalf(format string, args ...any) {
	e.Helper()
	e.explain()
	e.T.Fatalf(format, args...)
}

// newWorld starts a node, unless there is a cluster to use.
func newWorld(t *testing.T) *world {
	t.Helper()
	return newWorldOf(t, filepath.Join("bin", "images", "pulumi-controller.tar"))
}

// newWorldOf loads these archives of the controller's image, in place of the one with the providers of the tests.
func newWorldOf(t *testing.T, archives ...string) *world {
	t.Helper()
	if os.Getenv("E2E") == "" {
		t.Skip("these tests need a Kubernetes cluster: `make e2e` starts one on this machine, or takes that of KUBECONFIG")
	}
	w := (&world{ctx: t.Context(), tenant: "apps", bucket: "state"}).in(t)
	var err error
	w.root, err = process.RepoRoot()
	w.Expect(err).NotTo(HaveOccurred())
	if w.kubeconfig = os.Getenv("KUBECONFIG"); w.kubeconfig == "" {
		w.startNode(archives)
	} else if w.host = os.Getenv("HOST_ADDRESS"); w.host == "" {
		t.Fatal("HOST_ADDRESS has to be the address of this machine as the pods of the cluster of KUBECONFIG see it")
	}
	config, err := clientcmd.BuildConfigFromFlags("", w.kubeconfig)
	w.Expect(err).NotTo(HaveOccurred())
	config.QPS = -1 // a test must not wait for its own client
	scheme, err := system.Scheme()
	w.Expect(err).NotTo(HaveOccurred())
	w.WithWatch, err = client.NewWithWatch(config, client.Options{Scheme: scheme})
	w.Expect(err).NotTo(HaveOccurred())
	w.serve()
	return w
}

func (w *world) startNode(archives []string) {
	w.test.Helper()
	began := time.Now()
	var err error
	w.node, err = cluster.Up(w.ctx, cluster.Options{Dir: filepath.Join(w.root, "bin", "node", "e2e")})
	w.Expect(err).NotTo(HaveOccurred())
	w.test.Cleanup(func() { w.Expect(w.node.Down(context.WithoutCancel(w.ctx))).To(Succeed()) })
	w.test.Logf("the node is ready after %s", time.Since(began).Round(time.Millisecond))
	began = time.Now()
	for _, name := range []string{"source-controller", "kustomize-controller", "notification-controller"} {
		archives = append(archives, filepath.Join("bin", "images", name+".tar"))
	}
	for _, archive := range archives {
		if !filepath.IsAbs(archive) {
			archive = filepath.Join(w.root, archive)
		}
		w.Expect(w.node.LoadImage(w.ctx, archive)).To(Succeed())
	}
	w.test.Logf("the images are loaded after %s", time.Since(began).Round(time.Millisecond))
	w.kubeconfig, w.host = w.node.Kubeconfig(), w.node.HostAddress()
}

// serve makes this machine the forge, the object store and the chat of the cluster.
func (w *world) serve() {
	w.test.Helper()
	dir := w.test.TempDir()
	for _, name := range []string{"git", "s3"} {
		w.Expect(os.Mkdir(filepath.Join(dir, name), 0o755)).To(Succeed())
	}
	var err error
	w.git, err = sources.NewGitServerAt(filepath.Join(dir, "git"), w.host)
	w.Expect(err).NotTo(HaveOccurred())
	w.test.Cleanup(func() { w.Expect(w.git.Close()).To(Succeed()) })
	w.s3, err = sources.NewS3ServerAt(context.WithoutCancel(w.ctx), filepath.Join(dir, "s3"), w.host)
	w.Expect(err).NotTo(HaveOccurred())
	w.test.Cleanup(func() { w.Expect(w.s3.Close()).To(Succeed()) })
	w.Expect(w.s3.MakeBackend(w.ctx, w.bucket)).To(Succeed())
	w.hook = newHook(w)
}

// backend is the URL of the bucket with the state of the Stacks.
func (w *world) backend() string {
	return "s3://" + w.bucket + "?endpoint=http://" + w.s3.Endpoint() + "&region=" + w.s3.Region() + "&s3ForcePathStyle=true"
}

// variables returns the envRefs entries that a Stack needs for the backend.
func (w *world) variables() string {
	keys := w.s3.Credentials()
	return `    AWS_ACCESS_KEY_ID: {type: Literal, literal: {value: ` + keys["accesskey"] + `}}
    AWS_SECRET_ACCESS_KEY: {type: Literal, literal: {value: ` + keys["secretkey"] + `}}
    PULUMI_CONFIG_PASSPHRASE: {type: Literal, literal: {value: passphrase}}
`
}

// command finds this repository's kubectl by its name.
func (w *world) command(name string, args ...string) *exec.Cmd {
	command := exec.CommandContext(w.ctx, name, args...)
	command.Dir = w.root
	command.Env = append(os.Environ(), "KUBECONFIG="+w.kubeconfig, "PATH="+filepath.Join(w.root, "bin")+":"+os.Getenv("PATH"))
	return command
}

// kubectl returns the output of kubectl.
func (w *world) kubectl(args ...string) string {
	w.test.Helper()
	output, err := w.tryKubectl(args...)
	w.Expect(err).NotTo(HaveOccurred(), "kubectl %s: %s", strings.Join(args, " "), output)
	return output
}

func (w *world) tryKubectl(args ...string) (string, error) {
	var output, errors bytes.Buffer
	command := w.command(filepath.Join(w.root, "bin", "kubectl"), args...)
	command.Stdout, command.Stderr = &output, &errors
	if err := command.Run(); err != nil {
		return output.String() + errors.String(), err
	}
	return output.String(), nil
}

// apply runs kubectl apply on a text.
func (w *world) apply(text string) {
	w.test.Helper()
	command := w.command(filepath.Join(w.root, "bin", "kubectl"), "apply", "--server-side", "-f", "-")
	command.Stdin = strings.NewReader(text)
	output, err := command.CombinedOutput()
	w.Expect(err).NotTo(HaveOccurred(), "applying %s: %s", text, output)
}

// rolledOut waits until the pods of a Deployment have its latest template and are ready.
func (w *world) rolledOut(deployment string) {
	w.test.Helper()
	w.kubectl("--namespace", fluxSystem, "rollout", "status", "deployment/"+deployment, "--timeout="+patience.String())
}

// pods returns the pods of the controller that are not in deletion.
func (w *world) pods(g Gomega) (pods []corev1.Pod) {
	var list corev1.PodList
	g.Expect(w.List(w.ctx, &list, client.InNamespace(fluxSystem), client.MatchingLabels{"app": controller})).To(Succeed())
	for _, pod := range list.Items {
		if pod.DeletionTimestamp == nil {
			pods = append(pods, pod)
		}
	}
	return pods
}

// pod returns the only pod of the controller.
func (w *world) pod() (pod corev1.Pod) {
	w.test.Helper()
	w.Eventually(func(g Gomega) {
		pods := w.pods(g)
		g.Expect(pods).To(HaveLen(1))
		pod = pods[0]
	}).Should(Succeed())
	return pod
}

func (w *world) namespace(name string) {
	w.test.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	w.Expect(client.IgnoreAlreadyExists(w.Create(w.ctx, namespace))).To(Succeed())
}

// explain shows the state of the cluster.
func (w *world) explain() {
	if w.kubeconfig == "" {
		return // there is none yet
	}
	for _, args := range [][]string{
		{"get", "pods", "--all-namespaces", "--output=wide"},
		{"describe", "nodes"},
		{"get", "events", "--all-namespaces", "--field-selector=involvedObject.kind=Node"},
		{"--namespace", fluxSystem, "describe", "pods"},
		{"get", "stacks,programs,kustomizations,gitrepositories,jobs", "--all-namespaces", "--output=yaml"},
		{"--namespace", w.tenant, "logs", "--selector=pulumi.com/run", "--tail=30", "--prefix"},
		{"--namespace", fluxSystem, "logs", "--selector=app=" + controller, "--tail=60", "--prefix"},
		{"--namespace", fluxSystem, "logs", "deployment/kustomize-controller", "--tail=15"},
		{"--namespace", fluxSystem, "logs", "deployment/source-controller", "--tail=15"},
		{"--namespace", fluxSystem, "logs", "deployment/notification-controller", "--tail=15"},
	} {
		output, _ := w.tryKubectl(args...)
		w.test.Logf("kubectl %s:\n%s", strings.Join(args, " "), output)
	}
}
