// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"golang.org/x/sys/unix"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// A restarted container reuses the PIDs of the one before.
func TestALockIsOursThoughItsPIDIsReused(t *testing.T) {
	g := NewWithT(t)
	host, err := os.Hostname()
	g.Expect(err).NotTo(HaveOccurred())
	dir := Directory(filepath.Join(t.TempDir(), "new"))
	lost := dir.of("old")
	g.Expect(lost.Make()).To(Succeed())
	s := &session{dir: dir, run: run.Run{Interrupted: []run.Interrupted{{ID: "old", Host: host}}}}

	before := time.Now()
	process, thread := living(t), threadOf(t)
	ended, zombie := beside{lab: &lab{T: t, WithT: g}}.dead(), zombieOf(t)
	g.Expect(os.WriteFile(lost.pids(), fmt.Appendf(nil, "%d\n%d\n%d\n%d\n%d\n", process, thread, ended, zombie, os.Getpid()), 0o600)).To(Succeed())

	for name, test := range map[string]struct {
		pid  int
		at   time.Time
		ours bool
	}{
		"a process that has ended":                             {ended, before, true},
		"a process that has ended, and is not reaped":          {zombie, time.Now().Add(time.Minute), true},
		"a process that was started after the lock was made":   {process, before.Add(-time.Minute), true},
		"a process that may have been started before it":       {process, before.Add(-time.Second), false},
		"a process that was started before it":                 {process, before.Add(time.Minute), false},
		"a process, where nobody knows when the lock was made": {process, time.Time{}, false},
		"a thread, which is no process":                        {thread, time.Time{}, true},
		"this process, which makes no locks":                   {os.Getpid(), time.Time{}, true},
		"a number that no process of the run had":              {4190001, before, false},
	} {
		g.Expect(s.isOurs(lockHolder{host: host, pid: test.pid, at: test.at})).To(Equal(test.ours), name)
	}
}

func TestTheTimeOfALockIsRead(t *testing.T) {
	g := NewWithT(t)
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	g.Expect(lockHolders("locked by 2 lock(s)\n" +
		"  file:///a.json: created by bob@host (pid 7) at 2026-01-01T00:00:00Z\n" +
		"  file:///b.json: created by bob@host (pid 8) at noon\n")).To(Equal([]lockHolder{
		{user: "bob", host: "host", pid: 7, at: at}, {user: "bob", host: "host", pid: 8},
	}))
	path := filepath.Join(t.TempDir(), "a.json")
	g.Expect(os.WriteFile(path, []byte(`{"pid":7,"username":"bob","hostname":"host","timestamp":"2026-01-01T00:00:00Z"}`), 0o600)).To(Succeed())
	g.Expect(readLock(path)).To(Equal(lockHolder{user: "bob", host: "host", pid: 7, at: at}))
}

// living is the PID of a process that lives as long as the test.
func living(t *testing.T) int {
	g := NewWithT(t)
	process := exec.Command("cat")
	stdin, err := process.StdinPipe()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(process.Start()).To(Succeed())
	t.Cleanup(func() {
		g.Expect(stdin.Close()).To(Succeed())
		g.Expect(process.Wait()).To(Succeed())
	})
	return process.Process.Pid
}

// zombieOf is the PID of a process that has ended and is reaped only after the test.
func zombieOf(t *testing.T) int {
	g := NewWithT(t)
	process := exec.Command("cat")
	_, err := process.StdinPipe() // without one it would end by itself
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(process.Start()).To(Succeed())
	t.Cleanup(func() { g.Expect(process.Wait()).To(MatchError(ContainSubstring("killed"))) })
	g.Expect(process.Process.Signal(syscall.SIGKILL)).To(Succeed())
	g.Expect(unix.Waitid(unix.P_PID, process.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil)).To(Succeed(), "it has ended, and is not reaped")
	g.Expect(syscall.Kill(process.Process.Pid, 0)).To(Succeed(), "it is a zombie")
	return process.Process.Pid
}

// threadOf is the ID of a thread of this process that lives as long as the test.
func threadOf(t *testing.T) int {
	number, end := make(chan int), make(chan struct{})
	t.Cleanup(func() { close(end) })
	go func() {
		runtime.LockOSThread()
		number <- syscall.Gettid()
		<-end
	}()
	thread := <-number
	if thread != os.Getpid() {
		return thread
	}
	return threadOf(t) // the main thread is taken now
}
