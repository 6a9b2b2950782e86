// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package sandbox_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
	"unsafe"

	. "github.com/onsi/gomega"
	"golang.org/x/sys/unix"

	"github.com/flux-pulumi/pulumi-controller/internal/pulumi/process"
	"github.com/flux-pulumi/pulumi-controller/internal/sandbox"
)

// attack is what the program of an attack gets: this test binary, as a process of a run.
type attack struct {
	Own, Token, Other, Data, Late string
	PID                           int
	// FD is a file that the controller has open, and At the address of a secret in its memory.
	FD     int
	At     uint64
	Mounts bool
}

func TestMain(m *testing.M) {
	if text := os.Getenv("ATTACK"); text != "" {
		var a attack
		if err := json.Unmarshal([]byte(text), &a); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		a.run()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// run prints a line for each attempt, with its error.
func (a attack) run() {
	if a.Late != "" { // a process that outlives the run
		_ = os.WriteFile(filepath.Join(a.Own, "started"), nil, 0o600) // it has left the group of the run
		for !exists(filepath.Join(a.Own, "ended")) {
			time.Sleep(10 * time.Millisecond)
		}
		_, err := os.ReadFile(a.Token)
		_ = os.WriteFile(a.Late+".new", fmt.Append(nil, err), 0o600)
		_ = os.Rename(a.Late+".new", a.Late)
		return
	}
	proc := fmt.Sprintf("/proc/%d", a.PID)
	read := func(path string) error { _, err := os.ReadFile(path); return err }
	own := filepath.Join(a.Own, "own")
	link := filepath.Join(a.Own, "link")
	report("have no file of the controller open", noneInherited())
	report("write its own file", os.WriteFile(own, []byte("x"), 0o600))
	report("move its own file between directories", errors.Join(os.Mkdir(filepath.Join(a.Own, "sub"), 0o700), os.Rename(own, filepath.Join(a.Own, "sub", "own"))))
	report("start a program of the system", exec.Command("/bin/sh", "-c", "true").Run())
	report("write to /dev/null", os.WriteFile("/dev/null", []byte("x"), 0))
	report("signal itself", unix.Kill(os.Getpid(), 0))

	report("! read the token", read(a.Token))
	report("! read another run", read(filepath.Join(a.Other, "secret")))
	report("! list the runs", func() error { _, err := os.ReadDir(filepath.Dir(a.Other)); return err }())
	report("! write to another run", os.WriteFile(filepath.Join(a.Other, "secret"), []byte("x"), 0o600))
	report("! create in another run", os.WriteFile(filepath.Join(a.Other, "new"), []byte("x"), 0o600))
	report("! truncate a file of another run", os.Truncate(filepath.Join(a.Other, "secret"), 0))
	report("! remove a file of another run", os.Remove(filepath.Join(a.Other, "secret")))
	report("! write to the data directory", os.WriteFile(filepath.Join(a.Data, "lock"), nil, 0o600))
	report("! read through a symbolic link", errors.Join(os.Symlink(a.Token, link), read(link)))
	report("! read through a hard link", errors.Join(os.Link(a.Token, link+"-hard"), read(link+"-hard")))
	report("! move a file of another run here", os.Rename(filepath.Join(a.Other, "secret"), link+"-moved"))
	report("! move a file to another run", os.Rename(filepath.Join(a.Own, "sub", "own"), filepath.Join(a.Other, "moved")))
	report("! exchange files with another run", unix.Renameat2(unix.AT_FDCWD, filepath.Join(a.Own, "sub"), unix.AT_FDCWD, a.Other, unix.RENAME_EXCHANGE))
	if a.Mounts { // or root without a sandbox would
		report("! mount something over it", unix.Mount(a.Own, a.Other, "", unix.MS_BIND, ""))
	}

	report("! make a device", unix.Mknod(filepath.Join(a.Own, "device"), unix.S_IFBLK|0o600, 0))
	for _, name := range []string{"environ", "mem", "maps", "auxv"} {
		report("! read "+name+" of the controller", func() error {
			file, err := os.Open(proc + "/" + name)
			if err != nil {
				return err
			}
			defer func() { _ = file.Close() }()
			_, err = file.Read(make([]byte, 1))
			return err
		}())
	}
	report("! go through the root of the controller", read(proc+"/root"+a.Token))
	report("! go through the directory of the controller", func() error { _, err := os.ReadDir(proc + "/cwd/"); return err }())
	report("! list the files of the controller", func() error { _, err := os.ReadDir(proc + "/fd"); return readable(proc+"/fd", err) }())
	report("! attach to the controller", unix.PtraceAttach(a.PID))
	report("! read its memory across processes", func() error {
		var at [8]byte
		_, err := unix.ProcessVMReadv(a.PID, []unix.Iovec{{Base: &at[0], Len: 8}}, []unix.RemoteIovec{{Base: uintptr(a.At), Len: 8}}, 0)
		return err
	}())
	report("! take one of its open files", func() error {
		process, err := unix.PidfdOpen(a.PID, 0)
		if err != nil {
			return err
		}
		_, err = unix.PidfdGetfd(process, a.FD, 0)
		return err
	}())
	report("! open by handle", openByHandle(a.Token))
	report("! read through a new name space", exec.Command("/usr/bin/unshare", "--user", "--mount", "--map-root-user", "cat", a.Token).Run())
	if err := openWithRing(filepath.Join(a.Own, "sub", "own")); !errors.Is(err, errors.ErrUnsupported) { // or the kernel has no ring
		report("open its own file with a ring", err)
		report("! open the token with a ring", openWithRing(a.Token))
	}
	tasks, _ := os.ReadDir(proc + "/task")
	for _, task := range tasks {
		report("! read the environment through a thread", read(proc+"/task/"+task.Name()+"/environ"))
	}
	if sandbox.ThisKernel().ScopesSignals() {
		report("! signal the controller", unix.Kill(a.PID, 0))
		report("! stop the controller", unix.Kill(a.PID, unix.SIGCONT))
	}
	if sandbox.ThisKernel().ScopesSockets() {
		_, err := net.Dial("unix", "@attack-"+strconv.Itoa(a.PID))
		report("! connect to an abstract socket", err)
	}
}

// readable is nil only if a link in the directory can be followed.
func readable(dir string, err error) error {
	if err != nil {
		return err
	}
	_, err = os.Readlink(dir + "/0")
	return err
}

func exists(path string) bool { _, err := os.Stat(path); return err == nil }

func report(what string, err error) {
	text := "done"
	if err != nil {
		text = "failed: " + strings.ReplaceAll(err.Error(), "\n", "; ")
	}
	fmt.Printf("%s: %s\n", what, text)
}

// newAttack makes the directories of a controller with two runs.
func newAttack(t *testing.T) attack {
	t.Helper()
	g := NewWithT(t)
	if !sandbox.ThisKernel().Usable() {
		t.Skip(sandbox.ThisKernel().Missing())
	}
	dir := t.TempDir()
	a := attack{
		Own: filepath.Join(dir, "data/runs/own"), Other: filepath.Join(dir, "data/runs/other"), Data: filepath.Join(dir, "data"),
		Token: filepath.Join(dir, "token"), PID: os.Getpid(),
	}
	for _, path := range []string{a.Own, a.Other} {
		g.Expect(os.MkdirAll(path, 0o700)).To(Succeed())
	}
	for _, path := range []string{a.Token, filepath.Join(a.Other, "secret"), filepath.Join(a.Data, "lock")} {
		g.Expect(os.WriteFile(path, []byte("secret"), 0o600)).To(Succeed())
	}
	return a
}

// opensToken is the token as a file that the controller has open, which a program must not inherit.
func (a attack) opensToken(t *testing.T) *os.File {
	t.Helper()
	file, err := os.Open(a.Token)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { _ = file.Close() })
	return file
}

// start starts the program of the attack, restricted or not.
func (a attack) start(t testing.TB, restrict bool, args ...string) *process.Child {
	g := NewWithT(t)
	self, err := os.Executable()
	g.Expect(err).NotTo(HaveOccurred())
	text, err := json.Marshal(a)
	g.Expect(err).NotTo(HaveOccurred())
	c := process.Command{
		Path: self, Dir: a.Own, Env: []string{"ATTACK=" + string(text)}, PIDs: os.DevNull, Warn: func(err error) { t.Error(err) },
	}
	if len(args) > 0 {
		c.Path, c.Args = args[0], args[1:]
	}
	if restrict {
		box := sandbox.New(sandbox.ThisKernel(), []string{self}, nil, []string{a.Data})
		c.Restrict = box.Restrict(append(sandbox.Writes(a.Own),
			sandbox.Rule{Path: a.Other, Access: sandbox.Write, Foreign: true}, sandbox.Rule{Path: "/", Access: sandbox.Write, Foreign: true}))
	}
	child, err := process.Start(c)
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(child.Close)
	return child
}

func TestAProgramCannotLeaveItsSandbox(t *testing.T) {
	g := NewWithT(t)
	a := newAttack(t)
	socket, err := net.Listen("unix", "@attack-"+strconv.Itoa(a.PID))
	g.Expect(err).NotTo(HaveOccurred())
	defer func() { _ = socket.Close() }()
	a.Mounts = true
	inherited := a.opensToken(t)
	_, err = unix.FcntlInt(inherited.Fd(), unix.F_SETFD, 0) // as what has started the controller may have left it
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(sandbox.WithholdFiles()).To(Succeed())
	secret, token := []byte("a secret"), a.opensToken(t)
	a.FD, a.At = int(token.Fd()), uint64(uintptr(unsafe.Pointer(&secret[0])))
	child := a.start(t, true)
	g.Eventually(child.Done(), "60s").Should(BeClosed())
	runtime.KeepAlive(secret)
	printed := child.Exit()
	g.Expect(printed.Code).To(BeZero(), printed.Stderr.Text)
	lines := strings.Split(strings.TrimSpace(printed.Stdout.Text), "\n")
	g.Expect(len(lines)).To(BeNumerically(">", 25))
	for _, line := range lines {
		if strings.HasPrefix(line, "! ") {
			g.Expect(line).To(MatchRegexp(`: failed: .*(permission denied|operation not permitted|invalid cross-device link|exit status 1)`))
			continue
		}
		g.Expect(line).To(HaveSuffix(": done"))
	}
	for _, path := range []string{a.Token, filepath.Join(a.Other, "secret"), filepath.Join(a.Data, "lock")} {
		g.Expect(os.ReadFile(path)).To(Equal([]byte("secret")), path)
	}
}

// Each attack on a file or a process is one that works without the sandbox: the test can fail.
func TestTheAttacksWorkWithoutASandbox(t *testing.T) {
	g := NewWithT(t)
	a := newAttack(t)
	secret, token := []byte("a secret"), a.opensToken(t)
	a.FD, a.At = int(token.Fd()), uint64(uintptr(unsafe.Pointer(&secret[0])))
	_, err := unix.FcntlInt(a.opensToken(t).Fd(), unix.F_SETFD, 0)
	g.Expect(err).NotTo(HaveOccurred())
	child := a.start(t, false)
	g.Eventually(child.Done(), "60s").Should(BeClosed())
	text := child.Exit().Stdout.Text
	g.Expect(text).To(MatchRegexp("have no file of the controller open: failed: .* is open: " + regexp.QuoteMeta(a.Token)))
	runtime.KeepAlive(secret)
	for _, what := range []string{"read its memory across processes", "take one of its open files", "read the token", "read another run", "write to another run", "read environ of the controller",
		"read mem of the controller", "go through the root of the controller", "read through a hard link", "signal the controller"} {
		g.Expect(text).To(ContainSubstring("! " + what + ":"))
		if what != "read mem of the controller" { // nothing is at its beginning
			g.Expect(text).To(ContainSubstring("! " + what + ": done"))
		}
	}
}

func TestWhatOutlivesARunStaysInItsSandbox(t *testing.T) {
	g := NewWithT(t)
	a := newAttack(t)
	a.Late = filepath.Join(a.Own, "late")
	self, err := os.Executable()
	g.Expect(err).NotTo(HaveOccurred())
	child := a.start(t, true, "/bin/sh", "-c", "setsid "+self+" >/dev/null 2>&1 & while [ ! -e started ]; do sleep 0.01; done")
	g.Eventually(child.Done(), "60s").Should(BeClosed())
	g.Expect(os.WriteFile(filepath.Join(a.Own, "ended"), nil, 0o600)).To(Succeed())
	g.Eventually(func() (string, error) { text, err := os.ReadFile(a.Late); return string(text), err }, "60s").Should(ContainSubstring("permission denied"))
}

func TestTheControllerItselfIsNotRestrictedAndStillSignals(t *testing.T) {
	g := NewWithT(t)
	a := newAttack(t)
	child := a.start(t, true, "/bin/sleep", "60")
	for range 200 { // on many threads
		done := make(chan error)
		go func() { _, err := os.ReadFile(a.Token); done <- err }()
		g.Expect(<-done).To(Succeed())
	}
	tasks, err := filepath.Glob("/proc/self/task/*/status")
	g.Expect(err).NotTo(HaveOccurred())
	for _, task := range tasks {
		text, err := os.ReadFile(task)
		if err == nil {
			g.Expect(string(text)).To(ContainSubstring("NoNewPrivs:\t0"), "no thread that was restricted is left")
		}
	}
	child.Kill()
	g.Expect(child.Exit().Signal).To(Equal("killed"))
}

// An older kernel is this one with less: it accepts each set of rights, and programs run with it.
func TestThisKernelAcceptsTheRightsOfOlderOnes(t *testing.T) {
	g := NewWithT(t)
	a := newAttack(t)
	this := sandbox.ThisKernel()
	for abi := sandbox.OldestABI; abi <= this.ABI; abi++ {
		box := sandbox.New(sandbox.Kernel{ABI: abi, Errata: this.Errata}, nil, nil, nil)
		child, err := process.Start(process.Command{
			Path: "/bin/sh", Args: []string{"-c", "echo x >own; cat " + a.Token}, Dir: a.Own, PIDs: os.DevNull,
			Warn: func(err error) { t.Error(err) }, Restrict: box.Restrict(sandbox.Writes(a.Own)),
		})
		g.Expect(err).NotTo(HaveOccurred(), "ABI %d", abi)
		g.Eventually(child.Done(), "60s").Should(BeClosed())
		g.Expect(child.Exit().Stderr.Text).To(HaveSuffix("token: Permission denied\n"), "ABI %d", abi)
		child.Close()
		g.Expect(os.Remove(filepath.Join(a.Own, "own"))).To(Succeed(), "it was written")
	}
}

// BenchmarkStart starts a program with and without the sandbox in turns, and reports what it adds.
func BenchmarkStart(b *testing.B) {
	a := attack{Own: b.TempDir()}
	took := map[bool]time.Duration{}
	for range b.N {
		for _, restrict := range []bool{false, true} {
			begin := time.Now()
			child := a.start(b, restrict, "/bin/true")
			<-child.Done()
			took[restrict] += time.Since(begin)
		}
	}
	b.ReportMetric(float64(took[false].Microseconds())/float64(b.N), "µs/without")
	b.ReportMetric(float64(took[true].Microseconds())/float64(b.N), "µs/with")
}
