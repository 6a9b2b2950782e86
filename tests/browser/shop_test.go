// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/cloud"
	"github.com/flux-pulumi/pulumi-controller/tests/failure"
	"github.com/flux-pulumi/pulumi-controller/tests/podlogs"
	"github.com/flux-pulumi/pulumi-controller/tests/process"
	"github.com/flux-pulumi/pulumi-controller/tests/sources"
	"github.com/flux-pulumi/pulumi-controller/tests/system"
)

// settling is how long the real system may take for what a test waits for, on a busy machine.
const settling = 3 * time.Minute

// shop is a real system with the Stacks of testdata/shop.yaml, in the namespace shop.
type shop struct {
	*system.System
	*WithT
	dir  string
	test *testing.T
}

func newShop(t *testing.T) *shop {
	t.Helper()
	needsChromium(t)
	g := NewWithT(t)
	g.SetDefaultEventuallyTimeout(settling)
	g.SetDefaultEventuallyPollingInterval(100 * time.Millisecond)
	dir, err := os.MkdirTemp("", "pulumi-controller-browser-")
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { g.Expect(os.RemoveAll(dir)).To(Succeed()) })
	for _, name := range []string{"system", "git", "state", "cloud"} {
		g.Expect(os.Mkdir(filepath.Join(dir, name), 0o755)).To(Succeed())
	}
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	s := &shop{WithT: g, dir: dir, test: t}
	s.System, err = system.Start(ctx, system.Options{Dir: filepath.Join(dir, "system"), WritePaths: []string{filepath.Join(dir, "cloud")}})
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() {
		g.Expect(errors.Join(s.cloud("database").Release(), s.Stop())).To(Succeed())
	})
	s.serveLog(ctx)
	s.create(ctx, s.repository(ctx))
	failure.Report(t, s.System, "shop", nil)
	return s
}

// serveLog stands in for the node of the controller, which is a process here and no pod.
func (s *shop) serveLog(ctx context.Context) {
	s.test.Helper()
	node, err := podlogs.Start(ctx, s.Client(), podlogs.Options{
		Node: "node", Namespace: "flux-system", Pod: "pulumi-controller-0",
		Log: func() ([]byte, error) { return os.ReadFile(s.ControllerLog()) },
	})
	s.Expect(err).NotTo(HaveOccurred())
	s.test.Cleanup(node.Stop)
}

// Client returns the client of the system, which has no cache.
func (s *shop) Client() client.WithWatch { return s.WithWatch }

// repository returns the URL of a git repository with the program of the network.
func (s *shop) repository(ctx context.Context) string {
	s.test.Helper()
	git, err := sources.NewGitServer(filepath.Join(s.dir, "git"))
	s.Expect(err).NotTo(HaveOccurred())
	s.test.Cleanup(func() { s.Expect(git.Close()).To(Succeed()) })
	repo, err := git.NewRepo(ctx, "infrastructure")
	s.Expect(err).NotTo(HaveOccurred())
	_, err = repo.Commit(ctx, sources.Files{
		"network/Pulumi.yaml": `name: network
runtime: yaml
resources:
  vpc:
    type: lab:index:Thing
    properties: {name: vpc, value: 10.0.0.0/16}
  subnet:
    type: lab:index:Thing
    properties: {name: subnet, value: "${vpc.value}"}
outputs:
  cidr: ${vpc.value}
  token: {"fn::secret": hunter2}
`}, "Add the network")
	s.Expect(err).NotTo(HaveOccurred())
	return repo.URL()
}

// create creates the objects of testdata/shop.yaml.
func (s *shop) create(ctx context.Context, repository string) {
	s.test.Helper()
	s.Expect(s.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop"}})).To(Succeed())
	text, err := os.ReadFile("testdata/shop.yaml")
	s.Expect(err).NotTo(HaveOccurred())
	placed := strings.NewReplacer("REPOSITORY", repository, "STATE", "file://"+filepath.Join(s.dir, "state"), "CLOUD", filepath.Join(s.dir, "cloud")).Replace(string(text))
	decoder := utilyaml.NewYAMLOrJSONDecoder(bufio.NewReader(strings.NewReader(placed)), 4096)
	for {
		object := &unstructured.Unstructured{}
		err := decoder.Decode(object)
		if errors.Is(err, io.EOF) {
			return
		}
		s.Expect(err).NotTo(HaveOccurred())
		s.Expect(s.Create(ctx, object)).To(Succeed())
	}
}

func (s *shop) cloud(stack string) *cloud.Cloud {
	return cloud.Open(filepath.Join(s.dir, "cloud", stack))
}

func (s *shop) stack(name string) *v1.Stack {
	stack := &v1.Stack{}
	s.Expect(s.Get(s.test.Context(), client.ObjectKey{Namespace: "shop", Name: name}, stack)).To(Succeed())
	return stack
}

// serve runs flux pulumi ui with the kubeconfig, and returns the process and the address that it prints.
func serve(t *testing.T, dir, kubeconfig string, args ...string) (*process.Process, string) {
	t.Helper()
	g := NewWithT(t)
	program, err := process.FindBin("flux-pulumi")
	g.Expect(err).NotTo(HaveOccurred())
	log := filepath.Join(dir, fmt.Sprintf("ui-%d.log", time.Now().UnixNano()))
	started, err := process.Start(context.Background(), process.Spec{
		Name: "flux pulumi ui", Path: program, Args: append([]string{"ui", "--no-open", "--kubeconfig", kubeconfig}, args...),
		Env: []string{"HOME=" + dir}, Log: log,
	})
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { g.Expect(started.Stop()).To(Succeed()) })
	address := regexp.MustCompile(`http://127\.0\.0\.1:\d+/\?token=[0-9a-f]+`)
	found := ""
	g.Eventually(func() string {
		text, err := os.ReadFile(log)
		g.Expect(err).NotTo(HaveOccurred())
		found = address.FindString(string(text))
		return found
	}, time.Minute, 50*time.Millisecond).ShouldNot(BeEmpty(), "the command prints no address: %s", started.LogTail())
	return started, found
}

// enter opens the printed address, which is valid once, and returns that of the page.
func (p *tab) enter(address string) string {
	p.t.Helper()
	p.wait = settling
	p.open(address)
	p.reads("h1", "Stacks")
	page, _, _ := strings.Cut(address, "?")
	return page
}
