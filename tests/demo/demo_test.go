// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gbytes"

	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

const (
	// runLimit is what a whole demo may take, on a busy machine.
	runLimit = 5 * time.Minute
	// endLimit is what the end of an interrupted one may take.
	endLimit = 2 * time.Minute
)

// started is a demo that runs with a directory for temporary files of its own.
type started struct {
	*exec.Cmd
	tmp    string
	output *gbytes.Buffer
	ended  chan error
}

// demoVariable makes this test binary the demo: to build another one takes longer than some of the tests.
const demoVariable = "TEST_IS_THE_DEMO"

func TestMain(m *testing.M) {
	if os.Getenv(demoVariable) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// launch starts the demo. A pipe is where its output goes when none is given.
func launch(t *testing.T, stdout *os.File, env ...string) *started {
	t.Helper()
	path, err := os.Executable()
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	d := &started{Cmd: exec.Command(path), tmp: t.TempDir(), output: gbytes.NewBuffer(), ended: make(chan error, 1)}
	d.Env = append(append(os.Environ(), demoVariable+"=1", "TMPDIR="+d.tmp, "KEEP="), env...)
	d.Stdout, d.Stderr = d.output, d.output
	if stdout != nil {
		d.Stdout = stdout
	}
	NewWithT(t).Expect(d.Start()).To(Succeed())
	t.Cleanup(func() { _ = d.Process.Kill() })
	go func() { d.ended <- d.Wait() }()
	return d
}

// awaitFile waits for a file of the demo.
func (d *started) awaitFile(g *WithT, pattern string) {
	pattern = filepath.Join(d.tmp, "pulumi-controller-demo-*", pattern)
	g.Eventually(filepath.Glob, runLimit, 10*time.Millisecond).WithArguments(pattern).ShouldNot(BeEmpty())
}

// mentioning lists the processes that have the directory in their command line, their
// environment or as their working directory, but this one.
func mentioning(dir string) []string {
	entries, _ := filepath.Glob("/proc/[0-9]*")
	return slices.DeleteFunc(entries, func(entry string) bool {
		command, _ := os.ReadFile(filepath.Join(entry, "cmdline"))
		environ, _ := os.ReadFile(filepath.Join(entry, "environ"))
		cwd, _ := os.Readlink(filepath.Join(entry, "cwd"))
		return filepath.Base(entry) == strconv.Itoa(os.Getpid()) || !strings.Contains(string(command)+string(environ)+cwd, dir)
	})
}

// expectNothingLeft asserts that neither a process nor a file is there.
func (d *started) expectNothingLeft(g *WithT) {
	g.Expect(mentioning(d.tmp)).To(BeEmpty(), "processes are left; the demo said:\n%s", d.output.Contents())
	g.Expect(os.ReadDir(d.tmp)).To(BeEmpty(), "files are left; the demo said:\n%s", d.output.Contents())
}

func TestTheDemoShowsAllAndEndsByItself(t *testing.T) {
	g := NewWithT(t)
	began := time.Now()
	d := launch(t, nil)
	var err error
	g.Eventually(d.ended, runLimit).Should(Receive(&err), "the demo does not end")
	text := string(d.output.Contents())
	g.Expect(err).NotTo(HaveOccurred(), text)
	t.Logf("the demo took %s", time.Since(began).Round(time.Second))
	for _, line := range []string{
		`quickstart\tmain@sha1:[0-9a-f]{8}\tFalse    \tTrue   \tApplied revision: main@sha1:[0-9a-f]{8} *\t\n`,
		`greeting  \t1@sha256:[0-9a-f]{8} \tFalse    \tTrue   \tApplied revision: 1@sha256:[0-9a-f]{8} *\t\n`,
		`greeting  \t2@sha256:[0-9a-f]{8} \tFalse    \tTrue   \t`,
		`\n  \$ flux pulumi tree stack quickstart -n default\n  Stack/default/quickstart\n  ├── lab:index:Thing database database-[0-9a-f]{8}\n`,
		`\n  \$ flux pulumi get stacks -n default\n  NAME .*\n  greeting  \t1@sha256:[0-9a-f]{8} .*\n  quickstart\tmain@sha1:[0-9a-f]{8}\tFalse    \tTrue `,
		`\n  \$ flux pulumi outputs stack quickstart -n default\n  NAME .*\n  database\t.*\n  password\t\[secret\] .*\n  web     \tversion 1\t\n`,
		`\n  \$ flux pulumi history stack quickstart -n default\n  REVISION .*\n.*\t1 updated, 2 unchanged\t\n.*\t3 created `,
		`\{"name":"web","value":"version 2"`,
		`the other Stack's resource is left:\n.*\n  greeting-[0-9a-f]{8}.json  \{"name":"greeting","value":"good morning"\}\n`,
	} {
		g.Expect(text).To(MatchRegexp(line))
	}
	g.Expect(text).NotTo(ContainSubstring("\x1b"), "a pipe gets no escape codes")
	g.Expect(text).NotTo(ContainSubstring("change-me"), "secrets are not shown")
	d.expectNothingLeft(g)
}

func TestAnInterruptedDemoLeavesNothing(t *testing.T) {
	short.Skip(t)
	for _, tt := range []struct {
		when, line string
		signals    []os.Signal
	}{
		{"by Ctrl-C twice while a Stack is updated, and another one is there", `greeting .*\tRunning update`, []os.Signal{syscall.SIGINT, syscall.SIGINT}},
		{"by the end of its terminal while a Stack is destroyed", `\tRunning destroy`, []os.Signal{syscall.SIGHUP}},
	} {
		t.Run(tt.when, func(t *testing.T) {
			if signal.Ignored(tt.signals[0]) {
				t.Skip("the tests run under nohup, and so would the demo")
			}
			g := NewWithT(t)
			d := launch(t, nil)
			g.Eventually(d.output, runLimit).Should(gbytes.Say(tt.line))
			for _, signal := range tt.signals {
				g.Expect(d.Process.Signal(signal)).To(Succeed())
			}
			g.Eventually(d.ended, endLimit).Should(Receive(MatchError("exit status 1")), "%s", d.output.Contents())
			g.Expect(d.output.Contents()).To(ContainSubstring("signal received"))
			d.expectNothingLeft(g)
		})
	}
}

func TestADemoIsInterruptedWhileTheControlPlaneStarts(t *testing.T) {
	short.Skip(t)
	g := NewWithT(t)
	d := launch(t, nil)
	d.awaitFile(g, "system/kube-apiserver.log")
	g.Expect(len(mentioning(d.tmp))).To(BeNumerically(">", 2), "the demo, etcd and the API server are found: so is what is left")
	homes, err := filepath.Glob(filepath.Join(d.tmp, "pulumi-controller-demo-*"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(homes).To(HaveLen(1))
	using, err := processesUsing(homes[0])
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(len(using)).To(BeNumerically(">=", 2), "the guard finds etcd and the API server")
	g.Expect(d.Process.Signal(syscall.SIGTERM)).To(Succeed())
	g.Eventually(d.ended, endLimit).Should(Receive(MatchError("exit status 1")))
	d.expectNothingLeft(g)
}

func TestTheDemoEndsWhenItsReaderDoes(t *testing.T) {
	short.Skip(t)
	g := NewWithT(t)
	reader, writer, err := os.Pipe()
	g.Expect(err).NotTo(HaveOccurred())
	d := launch(t, writer)
	g.Expect(writer.Close()).To(Succeed())
	first := make([]byte, 1)
	_, err = reader.Read(first)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(reader.Close()).To(Succeed())
	g.Eventually(d.ended, runLimit).Should(Receive(MatchError("exit status 1")))
	g.Expect(d.output.Contents()).To(ContainSubstring("broken pipe"))
	d.expectNothingLeft(g)
}

func TestAKilledDemoLeavesNothing(t *testing.T) {
	short.Skip(t)
	g := NewWithT(t)
	d := launch(t, nil)
	d.awaitFile(g, "cloud/things/network-*.json") // the database is next
	g.Expect(d.Process.Kill()).To(Succeed())
	g.Eventually(mentioning, endLimit).WithArguments(d.tmp).Should(BeEmpty())
	d.expectNothingLeft(g)
}

func TestAKeptDemoRunsUntilCtrlC(t *testing.T) {
	short.Skip(t)
	g := NewWithT(t)
	d := launch(t, nil, "KEEP=1")
	g.Eventually(d.output, runLimit).Should(gbytes.Say(`export KUBECONFIG=(\S+)\n`))
	configs, err := filepath.Glob(filepath.Join(d.tmp, "pulumi-controller-demo-*", "system", "controlplane", "kubeconfig"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(configs).To(HaveLen(1))
	g.Expect(d.output.Contents()).To(ContainSubstring("export KUBECONFIG=" + configs[0] + "\n"))
	g.Eventually(d.output, runLimit).Should(gbytes.Say("Ctrl-C here"))
	g.Expect(d.output.Contents()).To(MatchRegexp(`\n  export FLUXCD_PLUGINS=\S+\n  \S+/bin/flux pulumi get all -n default\n`))
	g.Consistently(d.ended, "2s").ShouldNot(Receive())

	// An editor in the terminal of someone who looks at the demo.
	editor := exec.Command("sleep", "1h")
	editor.Env, editor.Dir = append(os.Environ(), "KUBECONFIG="+configs[0]), filepath.Dir(configs[0])
	g.Expect(editor.Start()).To(Succeed())
	closed := make(chan error, 1)
	go func() { closed <- editor.Wait() }()
	g.Expect(d.Process.Signal(syscall.SIGINT)).To(Succeed())
	g.Eventually(d.ended, endLimit).Should(Receive(BeNil()), "%s", d.output.Contents())
	g.Expect(closed).NotTo(Receive(), "it is not the demo's")
	g.Expect(editor.Process.Kill()).To(Succeed())
	g.Eventually(closed, endLimit).Should(Receive())
	d.expectNothingLeft(g)
}
