// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/process"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

// TestTheExampleKindRunsWithItsOwnStore starts the S3 server as its Deployment does, with the program of that name that
// the other tests use, and keeps the state of the Stack there.
func TestTheExampleKindRunsWithItsOwnStore(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	u := newTenant(t, shared)
	endpoint := u.storeOfExample("kind/s3.yaml")
	const inCluster = "http://s3.pulumi-state.svc.cluster.local:9000"
	stack := u.tries("kind/hello.yaml", nil, func(s *v1.Stack) {
		s.Spec.Backend = strings.Replace(exampleBackend(u, "kind/hello.yaml"), inCluster, "http://"+endpoint, 1)
		s.Spec.EnvSecrets = []string{"hello"}
		s.Spec.EnvRefs = nil
	})["hello"]
	u.Expect(stack.Spec.Backend).To(ContainSubstring(endpoint))
	u.awaitReady(stack)
	made := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "greeting", Namespace: u.namespace}}
	u.Expect(u.Get(u.ctx, keyOf(made), made)).To(Succeed())
	u.Expect(made.Data["text"]).To(HavePrefix("Hello from steady-heron"))
	u.Expect(u.textOf(stack, "greeting")).To(Equal(made.Data["text"]))
	u.delete(stack)
	u.awaitGone(stack)
	u.awaitGone(made)
}

// exampleBackend returns the backend that the Stack of an example has.
func exampleBackend(t *tenant, file string) string {
	t.test.Helper()
	for _, object := range t.objectsOf(t.inExamples(file)) {
		if object.GetKind() == v1.StackKind {
			return object.Object["spec"].(map[string]any)["backend"].(string)
		}
	}
	t.test.Fatalf("%s has no Stack", file)
	return ""
}

// storeOfExample runs the containers of the Deployment in a file, with their commands, arguments and variables, and returns
// the address of the server.
func (t *tenant) storeOfExample(file string) string {
	t.test.Helper()
	var deployment appsv1.Deployment
	var secret corev1.Secret
	for _, object := range t.objectsOf(t.inExamples(file)) {
		switch object.GetKind() {
		case "Deployment":
			t.Expect(runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &deployment)).To(Succeed())
		case "Secret":
			t.Expect(runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &secret)).To(Succeed())
		}
	}
	dir := t.test.TempDir()
	here := func(text string) string { return strings.ReplaceAll(text, "/data", dir) }
	pod := deployment.Spec.Template.Spec
	t.Expect(pod.InitContainers).To(HaveLen(1))
	t.Expect(pod.Containers).To(HaveLen(1))
	t.Expect(pod.Containers[0].EnvFrom[0].SecretRef.Name).To(Equal(secret.Name))

	first := pod.InitContainers[0].Command
	for range 2 { // as after a restart of the pod
		output, err := exec.CommandContext(t.ctx, first[0], first[1], here(first[2])).CombinedOutput()
		t.Expect(err).NotTo(HaveOccurred(), string(output))
	}

	port, err := process.FreePort()
	t.Expect(err).NotTo(HaveOccurred())
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	var args []string
	for _, arg := range pod.Containers[0].Args {
		args = append(args, strings.Replace(here(arg), ":9000", address, 1))
	}
	t.Expect(args).To(ContainElement(address))
	path, err := process.FindBin("versitygw")
	t.Expect(err).NotTo(HaveOccurred())
	env := []string{"HOME=" + dir}
	for name, value := range secret.StringData {
		env = append(env, name+"="+value)
	}
	server, err := process.Start(t.ctx, process.Spec{Name: "versitygw", Path: path, Args: args, Env: env, Dir: dir, Log: filepath.Join(dir, "log")})
	t.Expect(err).NotTo(HaveOccurred())
	t.test.Cleanup(func() { _ = server.Stop() })
	t.Expect(server.Await(t.ctx, time.Minute, process.TCPProbe(address))).To(Succeed())
	t.sameVersion(pod.Containers[0].Image)
	t.sameVersion(pod.InitContainers[0].Image)
	return address
}

// sameVersion expects an image of the version that the tests run.
func (t *tenant) sameVersion(image string) {
	t.test.Helper()
	root, err := process.RepoRoot()
	t.Expect(err).NotTo(HaveOccurred())
	module, err := os.ReadFile(filepath.Join(root, "hack", "tools", "versitygw", "go.mod"))
	t.Expect(err).NotTo(HaveOccurred())
	_, version, _ := strings.Cut(image, ":")
	t.Expect(string(module)).To(MatchRegexp(`github\.com/versity/versitygw ` + version + `\b`))
}
