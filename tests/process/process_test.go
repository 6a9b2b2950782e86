// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

// parentLog is an environment variable that turns this test binary into a parent to be
// killed.
const parentLog = "PROCESS_TEST_PARENT_LOG"

func TestMain(m *testing.M) {
	log := os.Getenv(parentLog)
	if log == "" {
		os.Exit(m.Run())
	}
	child, err := Start(context.Background(), Spec{Name: "child", Path: "/bin/sh", Args: []string{"-c", "exec sleep 600"}, Log: log})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(child.PID())
	_ = child.Wait()
}

// launch runs a shell script.
func launch(t *testing.T, ctx context.Context, script string, grace time.Duration) *Process {
	t.Helper()
	log := filepath.Join(t.TempDir(), "log")
	p, err := Start(ctx, Spec{Name: "script", Path: "/bin/sh", Args: []string{"-c", script}, Log: log, Grace: grace})
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { _ = p.Kill() })
	return p
}

// start launches a script and waits until it prints "up".
func start(t *testing.T, ctx context.Context, script string, grace time.Duration) *Process {
	t.Helper()
	g := NewWithT(t)
	p := launch(t, ctx, script, grace)
	g.Expect(p.Await(ctx, time.Minute, func(context.Context) error {
		if !strings.Contains(p.LogTail(), "up\n") {
			return errors.New("not up")
		}
		return nil
	})).To(Succeed())
	return p
}

// grandchild returns the PID that the script printed after "child ".
func grandchild(g *WithT, p *Process) int {
	_, rest, found := strings.Cut(p.LogTail(), "child ")
	g.Expect(found).To(BeTrue(), "the script printed no child")
	pid, err := strconv.Atoi(strings.Fields(rest)[0])
	g.Expect(err).NotTo(HaveOccurred())
	return pid
}

// alive reports whether a process runs. A zombie counts as gone.
func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.Contains(string(stat), ") Z ")
}

func TestStopAsksOnce(t *testing.T) {
	g := NewWithT(t)
	ctx, end := context.WithCancel(t.Context())
	// The shell counts the signals, and ends by itself some time after the first.
	p := start(t, ctx, `trap 'echo asked; over=yes' TERM; echo up; until [ "$over" ]; do sleep 0.05; done; `+
		`for n in 1 2 3 4 5 6 7 8 9 10; do sleep 0.1; done`, time.Minute)
	end()
	g.Expect(p.Stop()).To(Succeed())
	g.Expect(p.Stop()).To(Succeed())
	g.Expect(strings.Count(p.LogTail(), "asked")).To(Equal(1))
}

func TestStopLetsTheProcessEndByItself(t *testing.T) {
	g := NewWithT(t)
	p := start(t, t.Context(), `trap 'echo bye; exit 0' TERM; echo up; while :; do sleep 0.05; done`, 0)
	g.Expect(p.Stop()).To(Succeed())
	g.Expect(p.Wait()).To(Succeed())
	g.Expect(p.LogTail()).To(ContainSubstring("bye"))
	g.Expect(p.Stop()).To(Succeed(), "stopping twice is no error")
	g.Expect(p.Kill()).To(Succeed(), "killing what is gone is no error")
}

func TestStopKillsAProcessThatIgnoresSIGTERM(t *testing.T) {
	g := NewWithT(t)
	p := start(t, t.Context(), `trap '' TERM; echo up; while :; do sleep 0.05; done`, 200*time.Millisecond)
	g.Expect(p.Stop()).To(MatchError(ContainSubstring("script did not end within 200ms")))
	g.Expect(alive(p.PID())).To(BeFalse())
}

func TestTheGroupEndsWithItsLeader(t *testing.T) {
	for name, end := range map[string]func(*Process) error{
		"when the leader is stopped": (*Process).Stop,
		"when the leader is killed":  (*Process).Kill,
		"when only the leader dies by itself": func(p *Process) error {
			return syscall.Kill(p.PID(), syscall.SIGKILL)
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			p := start(t, t.Context(), `sleep 600 & echo child $!; echo up; wait`, 0)
			child := grandchild(g, p)
			g.Expect(alive(child)).To(BeTrue())
			g.Expect(end(p)).To(Succeed())
			g.Eventually(p.Done(), time.Minute).Should(BeClosed())
			g.Eventually(alive, time.Minute).WithArguments(child).Should(BeFalse())
		})
	}
}

func TestAChildWithAGroupOfItsOwnSurvivesKill(t *testing.T) {
	g := NewWithT(t)
	p := start(t, t.Context(), `setsid sleep 600 & echo child $!; echo up; wait`, 0)
	child := grandchild(g, p)
	defer func() { _ = syscall.Kill(child, syscall.SIGKILL) }()
	g.Eventually(func() (int, error) { return syscall.Getpgid(child) }, time.Minute).Should(Equal(child))
	g.Expect(p.Kill()).To(Succeed())
	g.Expect(alive(child)).To(BeTrue())
}

func TestTheEndOfTheContextStopsTheProcess(t *testing.T) {
	g := NewWithT(t)
	ctx, cancel := context.WithCancel(t.Context())
	p := start(t, ctx, `echo up; exec sleep 600`, 0)
	cancel()
	g.Eventually(p.Done(), time.Minute).Should(BeClosed())
	g.Expect(alive(p.PID())).To(BeFalse())
}

func TestAProcessDoesNotOutliveAKilledParent(t *testing.T) {
	g := NewWithT(t)
	parent := exec.Command(os.Args[0])
	parent.Env = append(os.Environ(), parentLog+"="+filepath.Join(t.TempDir(), "log"))
	output, err := parent.StdoutPipe()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(parent.Start()).To(Succeed())
	line, err := bufio.NewReader(output).ReadString('\n')
	g.Expect(err).NotTo(HaveOccurred())
	child, err := strconv.Atoi(strings.TrimSpace(line))
	g.Expect(err).NotTo(HaveOccurred(), line)
	g.Expect(alive(child)).To(BeTrue())

	g.Expect(parent.Process.Kill()).To(Succeed())
	g.Expect(parent.Wait()).To(MatchError(ContainSubstring("killed")))
	g.Eventually(alive, time.Minute).WithArguments(child).Should(BeFalse())
}

func TestABadExitIsExplainedByTheEndOfTheLog(t *testing.T) {
	g := NewWithT(t)
	p := launch(t, t.Context(), `yes xxxxxxxxxx | head -c 100000; echo the disk is on fire >&2; exit 3`, 0)
	err := p.Wait()
	g.Expect(err).To(MatchError(And(
		ContainSubstring("script ended with exit status 3"), ContainSubstring("the disk is on fire"))))
	g.Expect(len(err.Error())).To(BeNumerically("<", 5000))
}

func TestAwaitReportsWhatWasWrong(t *testing.T) {
	g := NewWithT(t)
	never := func(context.Context) error { return errors.New("still cold") }
	running := start(t, t.Context(), `echo up; exec sleep 600`, 0)
	g.Expect(running.Await(t.Context(), 100*time.Millisecond, never)).To(MatchError(And(
		ContainSubstring("not ready after 100ms"), ContainSubstring("still cold"))))
	ended := launch(t, t.Context(), `exit 4`, 0)
	g.Expect(ended.Await(t.Context(), time.Minute, never)).To(MatchError(And(
		ContainSubstring("ended before it was ready"), ContainSubstring("exit status 4"))))
}

func TestStartOfAMissingProgramFails(t *testing.T) {
	g := NewWithT(t)
	_, err := Start(t.Context(), Spec{Name: "ghost", Path: "/nowhere/ghost", Log: filepath.Join(t.TempDir(), "log")})
	g.Expect(err).To(MatchError(ContainSubstring("starting ghost")))
}

func TestFreePortsDiffer(t *testing.T) {
	g := NewWithT(t)
	ports, err := FreePorts(5)
	g.Expect(err).NotTo(HaveOccurred())
	seen := map[int]bool{}
	for _, port := range ports {
		seen[port] = true
	}
	g.Expect(seen).To(HaveLen(5))
}

func TestAPortThatWasFoundIsNotFoundAgain(t *testing.T) {
	g := NewWithT(t)
	port, err := FreePort()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(reserve(port)).To(MatchError(syscall.EADDRINUSE), "as by another process")
}

func TestRepoRootIsWhereTheRootModuleIs(t *testing.T) {
	g := NewWithT(t)
	root, err := RepoRoot()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(filepath.Join(root, "tests", "process", "find.go")).To(BeARegularFile())
	_, err = FindBin("no-such-program")
	g.Expect(err).To(MatchError(ContainSubstring("make tools")))
}

func TestRoomNamesDiskAndMemory(t *testing.T) {
	NewWithT(t).Expect(Room(t.TempDir())).To(MatchRegexp(
		`^of the disk of /.+, \d+\.\d GiB of \d+\.\d GiB and \d+ of \d+ inodes are free( \(the disk is full\))?, \d+\.\d GiB of \d+\.\d GiB of memory are available$`))
}
