// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

//go:build !windows

package main

import (
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/tests/silent"
)

// asPlugin makes the test binary run the program itself.
const asPlugin = "TEST_AS_PLUGIN"

func TestMain(m *testing.M) {
	if os.Getenv(asPlugin) != "" {
		main()
	}
	os.Exit(m.Run())
}

// start runs a shell script in its own process group. In it, "$0" is the program and "$1"
// the kubeconfig.
func start(t *testing.T, shell, script, kubeconfig string) (process *exec.Cmd, output *strings.Builder) {
	t.Helper()
	g := NewWithT(t)
	self, err := os.Executable()
	g.Expect(err).NotTo(HaveOccurred())
	process, output = exec.Command(shell, "-c", script, self, kubeconfig), &strings.Builder{}
	process.Env = append(os.Environ(), asPlugin+"=1")
	process.Stdout, process.Stderr = output, output
	process.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	// A child does not inherit caught signals, but it does inherit ignored ones, such as
	// those of nohup.
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(caught)
	g.Expect(process.Start()).To(Succeed())
	t.Cleanup(func() { _ = syscall.Kill(-process.Process.Pid, syscall.SIGKILL) })
	return process, output
}

func ended(process *exec.Cmd) <-chan syscall.WaitStatus {
	done := make(chan syscall.WaitStatus, 1)
	go func() {
		_ = process.Wait()
		status, _ := process.ProcessState.Sys().(syscall.WaitStatus)
		done <- status
	}()
	return done
}

func TestACommandDiesOfTheSignalThatEndsIt(t *testing.T) {
	for _, sent := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		for _, line := range []string{"reconcile stack a", "get stacks --watch", "preview stack a", "events -w"} {
			t.Run(sent.String()+" "+line, func(t *testing.T) {
				g := NewWithT(t)
				kubeconfig, asked := silent.Server(t)
				process, output := start(t, "sh", `exec "$0" `+line+` --kubeconfig "$1"`, kubeconfig)
				g.Eventually(asked, time.Minute).Should(Receive())
				g.Expect(process.Process.Signal(sent)).To(Succeed())
				var status syscall.WaitStatus
				g.Eventually(ended(process), time.Minute).Should(Receive(&status))
				g.Expect(status.Signaled()).To(BeTrue(), "exit code %d: %s", status.ExitStatus(), output)
				g.Expect(status.Signal()).To(Equal(sent))
				g.Expect(output.String()).To(BeEmpty())
			})
		}
	}
}

func TestAShellEndsALoopAtCtrlC(t *testing.T) {
	g := NewWithT(t)
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash")
	}
	kubeconfig, asked := silent.Server(t)
	process, output := start(t, bash, `for name in a b; do "$0" reconcile stack $name --kubeconfig "$1"; done; echo went on`, kubeconfig)
	g.Eventually(asked, time.Minute).Should(Receive())
	g.Expect(syscall.Kill(-process.Process.Pid, syscall.SIGINT)).To(Succeed()) // as a terminal does
	var status syscall.WaitStatus
	g.Eventually(ended(process), time.Minute).Should(Receive(&status))
	g.Expect(status.Signaled()).To(BeTrue(), output.String())
	g.Expect(output.String()).To(BeEmpty())
	g.Expect(asked).NotTo(Receive())
}

func TestWhatIsIgnoredStaysIgnored(t *testing.T) {
	for name, ignored := range map[string]syscall.Signal{"HUP": syscall.SIGHUP, "INT": syscall.SIGINT} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			kubeconfig, asked := silent.Server(t)
			process, _ := start(t, "sh", `trap "" `+name+`; exec "$0" get stacks --watch --kubeconfig "$1"`, kubeconfig)
			g.Eventually(asked, time.Minute).Should(Receive())
			g.Expect(process.Process.Signal(ignored)).To(Succeed())
			g.Expect(process.Process.Signal(syscall.SIGTERM)).To(Succeed())
			var status syscall.WaitStatus
			g.Eventually(ended(process), time.Minute).Should(Receive(&status))
			g.Expect(status.Signal()).To(Equal(syscall.SIGTERM), "the first to come is what it dies of")
		})
	}
}
