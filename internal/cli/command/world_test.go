// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"bytes"
	"context"
	"errors"
	"flag"
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
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/flux-pulumi/pulumi-controller/internal/cli/cluster"
	"github.com/flux-pulumi/pulumi-controller/tests/controlplane"
	"github.com/flux-pulumi/pulumi-controller/tests/failure"
	"github.com/flux-pulumi/pulumi-controller/tests/parallel"
	"github.com/flux-pulumi/pulumi-controller/tests/process"
)

// These tests run each command as a user does, against a real API server with objects
// whose statuses the tests set, and compare all output with a file. Run them with -update
// to rewrite the files.
var update = flag.Bool("update", false, "write the golden files")

// now is the clock of all commands.
var now = time.Date(2026, 3, 2, 10, 17, 55, 0, time.UTC)

// server is that of all tests but those that install CRDs. Tests that look at all of it, or kill it, are not parallel.
var server = controlplane.Shared{CRDPaths: func() ([]string, error) {
	crds, err := controlplane.ProjectCRDs()
	if err != nil {
		return nil, err
	}
	kustomizations, err := process.FindBin(filepath.Join("crds", "kustomize-controller"))
	return append(crds, kustomizations), err
}}

// parallelTests is how many tests run in parallel: they wait for time-outs.
const parallelTests = 8

func TestMain(m *testing.M) {
	if err := parallel.Tests(parallelTests); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	if err := errors.Join(server.Stop(), empty.Stop(), operated.Stop()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// world is a namespace of the API server, and the commands in it.
type world struct {
	t         *testing.T
	api       client.WithWatch
	namespace string
	// kubeconfig is the one that commands use: that of a cluster admin.
	kubeconfig string
	// env may be changed before a command runs.
	env Environment
}

// newWorld returns a world with its own namespace.
func newWorld(t *testing.T, namespace string) *world {
	t.Helper()
	g := NewWithT(t)
	plane, err := server.Start()
	g.Expect(err).NotTo(HaveOccurred())
	scheme, err := cluster.Scheme()
	g.Expect(err).NotTo(HaveOccurred())
	w := &world{t: t, namespace: namespace, kubeconfig: plane.KubeconfigPath(), env: testEnvironment()}
	w.api, err = client.NewWithWatch(plane.RESTConfig(), client.Options{Scheme: scheme})
	g.Expect(err).NotTo(HaveOccurred())
	err = w.api.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}})
	if !apierrors.IsAlreadyExists(err) { // with -count
		g.Expect(err).NotTo(HaveOccurred())
	}
	failure.Report(t, w.api, namespace, nil)
	return w
}

// slowPolls is the PollInterval of tests that wait for a time-out, which would keep a processor busy.
const slowPolls = 200 * time.Millisecond

func testEnvironment() Environment {
	return Environment{
		In:           strings.NewReader(""),
		Now:          func() time.Time { return now },
		Getenv:       func(string) string { return "" },
		Version:      "1.2.3",
		PollInterval: 10 * time.Millisecond,
	}
}

// apply creates the objects of testdata/FILE.yaml in the namespace, with their statuses.
func (w *world) apply(file string) {
	w.t.Helper()
	g := NewWithT(w.t)
	text, err := os.ReadFile(filepath.Join("testdata", file+".yaml"))
	g.Expect(err).NotTo(HaveOccurred())
	decoder := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(bytes.ReplaceAll(text, []byte("NAMESPACE"), []byte(w.namespace))), 4096)
	for {
		object := &unstructured.Unstructured{}
		err := decoder.Decode(&object.Object)
		if errors.Is(err, io.EOF) {
			return
		}
		g.Expect(err).NotTo(HaveOccurred())
		w.create(object)
	}
}

func (w *world) create(object *unstructured.Unstructured) {
	w.t.Helper()
	g := NewWithT(w.t)
	if object.GetNamespace() == "" {
		object.SetNamespace(w.namespace)
	}
	status := object.Object["status"]
	g.Expect(w.api.Create(w.t.Context(), object)).To(Succeed())
	w.t.Cleanup(func() { _ = w.api.Delete(context.Background(), object) })
	if status == nil {
		return
	}
	object.Object["status"] = status
	g.Expect(w.api.Status().Update(w.t.Context(), object)).To(Succeed())
}

// result is the outcome of a command.
type result struct {
	line        string
	out, err    string
	exit        int
	environment Environment
}

// run runs a command line in the namespace.
func (w *world) run(line string) result {
	w.t.Helper()
	return w.start(w.t.Context(), line)
}

func (w *world) start(ctx context.Context, line string) result {
	var out, errs bytes.Buffer
	env := w.env
	env.Out, env.Err = &out, &errs
	args := append(strings.Fields(line), "--kubeconfig", w.kubeconfig)
	if !strings.Contains(line, "-n ") {
		args = append(args, "--namespace", w.namespace)
	}
	if !strings.Contains(line, "--timeout ") {
		args = append(args, "--timeout", "60s") // fail this test before the timeout of all of them
	}
	exit := Run(ctx, env, args)
	return result{line: line, out: out.String(), err: errs.String(), exit: exit, environment: env}
}

// transcript shows a command as a terminal would, except that stderr comes last.
func (r result) transcript() string {
	text := "$ flux pulumi " + r.line + "\n" + r.out
	if r.err != "" {
		text += "--- stderr\n" + r.err
	}
	if r.exit != 0 {
		text += fmt.Sprintf("--- exit %d\n", r.exit)
	}
	return text
}

// volatile matches what the API server sets differently in each run of a test.
var volatile = regexp.MustCompile(`((?:uid|resourceVersion|creationTimestamp)"?: )(.*)`)

// golden runs the lines and compares their output with testdata/golden/NAME.txt.
func (w *world) golden(name string, lines ...string) {
	w.t.Helper()
	var texts []string
	for _, line := range lines {
		texts = append(texts, w.run(line).transcript())
	}
	compare(w.t, name, strings.Join(texts, "\n"))
}

func compare(t *testing.T, name, got string) {
	t.Helper()
	g := NewWithT(t)
	got = volatile.ReplaceAllString(got, "${1}...")
	path := filepath.Join("testdata", "golden", name+".txt")
	if *update {
		g.Expect(os.MkdirAll(filepath.Dir(path), 0o755)).To(Succeed())
		g.Expect(os.WriteFile(path, []byte(got), 0o644)).To(Succeed())
	}
	want, err := os.ReadFile(path)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(got).To(Equal(string(want)))
}
