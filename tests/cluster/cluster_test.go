// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/flux-pulumi/pulumi-controller/tests/cluster/node"
	"github.com/flux-pulumi/pulumi-controller/tests/process"
)

// TestANodeFromItsStartToItsEnd has one run beside another, and killed, which is the end that no code can clean up after.
func TestANodeFromItsStartToItsEnd(t *testing.T) {
	if os.Getenv("E2E") == "" || os.Getenv("KUBECONFIG") != "" {
		t.Skip("this needs a machine that can have a Kubernetes node: run `make e2e` without a KUBECONFIG")
	}
	g := NewWithT(t)
	g.SetDefaultEventuallyTimeout(time.Minute)
	root, err := process.RepoRoot()
	g.Expect(err).NotTo(HaveOccurred())
	// What this test leaves when it is killed, it removes when it begins again.
	dir, beside := filepath.Join(root, "bin", "node", "alone"), filepath.Join(root, "bin", "node", "beside")
	c, err := Up(t.Context(), Options{Dir: dir})
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { _ = c.Down(context.WithoutCancel(t.Context())) }) // a second time, unless the test has failed

	_, err = Up(t.Context(), Options{Dir: dir})
	g.Expect(err).To(MatchError(And(ContainSubstring(ErrUp.Error()), ContainSubstring("KUBECONFIG="+c.Kubeconfig()))))

	config, err := clientcmd.BuildConfigFromFlags("", c.Kubeconfig())
	g.Expect(err).NotTo(HaveOccurred())
	clients, err := kubernetes.NewForConfig(config)
	g.Expect(err).NotTo(HaveOccurred())
	runs(t, g, clients, "before")

	other, err := Up(t.Context(), Options{Dir: beside})
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { _ = other.Down(context.WithoutCancel(t.Context())) }) // a second time, unless the test has failed
	g.Expect(other.HostAddress()).NotTo(Equal(c.HostAddress()))
	g.Expect(other.Down(t.Context())).To(Succeed())
	g.Expect(beside).NotTo(BeADirectory())
	runs(t, g, clients, "beside")

	g.Expect(c.KillKubelet(t.Context())).To(Succeed())
	g.Expect(c.KillKubelet(t.Context())).To(MatchError(ContainSubstring("kubelet does not run")))
	g.Expect(c.StartKubelet(t.Context())).To(Succeed())
	runs(t, g, clients, "after")

	left := processes(g, dir)
	g.Expect(len(left)).To(BeNumerically(">", 8), "the components, and the containers")
	g.Expect(syscall.Kill(c.pid, syscall.SIGKILL)).To(Succeed())
	g.Eventually(func() []string { return processes(g, dir) }).Should(BeEmpty())
	g.Expect(Down(t.Context(), dir)).To(Succeed())
	g.Expect(dir).NotTo(BeADirectory())
	_, err = net.InterfaceByName(c.spec.Interface())
	g.Expect(err).To(HaveOccurred(), "the cable is still there")
	places, err := hierarchies()
	g.Expect(err).NotTo(HaveOccurred())
	for _, place := range places {
		g.Expect(filepath.Join(place, c.spec.Cgroup())).NotTo(BeADirectory())
	}
	g.Expect(Down(t.Context(), dir)).To(Succeed(), "there is nothing to be ended")
}

// runs starts a pod, and connects to it from this machine.
func runs(t *testing.T, g *WithT, clients kubernetes.Interface, name string) {
	t.Helper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Name: "pause", Image: node.PauseImage, ImagePullPolicy: corev1.PullNever,
		}}},
	}
	_, err := clients.CoreV1().Pods(metav1.NamespaceDefault).Create(t.Context(), pod, metav1.CreateOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Eventually(func(g Gomega) {
		found, err := clients.CoreV1().Pods(metav1.NamespaceDefault).Get(t.Context(), name, metav1.GetOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(found.Status.Phase).To(Equal(corev1.PodRunning))
		// The pod refuses the connection, because nothing listens, and so it is there.
		_, err = net.DialTimeout("tcp", net.JoinHostPort(found.Status.PodIP, "80"), time.Second)
		g.Expect(err).To(MatchError(syscall.ECONNREFUSED))
	}).Should(Succeed())
}

// processes returns the processes of this machine whose command line has the directory.
func processes(g *WithT, dir string) (found []string) {
	commands, err := filepath.Glob("/proc/[0-9]*/cmdline")
	g.Expect(err).NotTo(HaveOccurred())
	for _, path := range commands {
		command, err := os.ReadFile(path)
		if err == nil && strings.Contains(string(command), dir) {
			found = append(found, strings.ReplaceAll(string(command), "\x00", " "))
		}
	}
	return found
}

func TestWhatIsNoNode(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	_, err := Open(dir)
	g.Expect(err).To(MatchError(os.ErrNotExist))

	spec := node.Spec{Dir: dir}
	g.Expect(spec.Write()).To(Succeed())
	g.Expect(noteRunning(spec, os.Getpid())).To(Succeed())
	g.Expect(running(spec)).To(Equal(os.Getpid()))
	g.Expect(os.WriteFile(spec.Path("pid"), []byte("1 1\n"), 0o600)).To(Succeed())
	_, err = running(spec)
	g.Expect(err).To(HaveOccurred(), "the number belongs to another process now")
}
