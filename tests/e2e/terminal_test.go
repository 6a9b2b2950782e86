// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"errors"
	"io"
	"os/exec"
	"syscall"
	"testing"

	"github.com/creack/pty"
	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

// onTerminal runs `flux pulumi` on a pseudo-terminal and returns all that was written to
// it, and the exit code.
func (f *fluxCLI) onTerminal(env []string, args ...string) (written string, exit int) {
	f.test.Helper()
	command := f.cli.Command(f.ctx, append([]string{"pulumi"}, args...)...)
	command.Env = append(command.Env, append([]string{"TERM=xterm"}, env...)...)
	terminal, err := pty.StartWithSize(command, &pty.Winsize{Rows: 24, Cols: 60})
	f.Expect(err).NotTo(HaveOccurred())
	defer func() { _ = terminal.Close() }()
	var text bytes.Buffer
	// Linux ends the reading with EIO when nobody has the other end any more.
	if _, err := io.Copy(&text, terminal); !errors.Is(err, syscall.EIO) {
		f.Expect(err).NotTo(HaveOccurred())
	}
	var ended *exec.ExitError
	if err := command.Wait(); err != nil && !errors.As(err, &ended) {
		f.Expect(err).NotTo(HaveOccurred())
	}
	return text.String(), command.ProcessState.ExitCode()
}

const (
	clearLine = "\r\x1b[K"
	inGreen   = "\x1b[32m"
	inYellow  = "\x1b[33m"
	inPlain   = "\x1b[0m"
)

func TestTheFluxCommandLineOnATerminal(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	u := newFluxCLI(newTenant(t, shared))
	source := u.git(project("lab", oneThing("one")))
	stack := u.stack(fromGit)
	u.apply(stack)
	u.awaitReady(stack)

	// A terminal that answers nothing must not hold up a command.
	written, exit := u.onTerminal(nil, "version")
	u.Expect(exit).To(Equal(0), written)
	u.Expect(written).To(MatchRegexp(`^flux-pulumi: v\S+\r\n$`), "the terminal is asked for nothing")

	// A spinner with the progress, in one line of the terminal, of which nothing is left.
	revision := source.commit(project("lab", oneThing("two", "delays: {update: 3s}")))
	written, exit = u.onTerminal(nil, "reconcile", "stack", "app", "--with-source")
	u.Expect(exit).To(Equal(0), written)
	u.Expect(written).To(MatchRegexp(`(?s)\r\x1b\[K⠋ \S+ app, \d+s: .*\r\x1b\[K⠙ .*\r\x1b\[K⠹ `), "it turns")
	u.Expect(written).To(MatchRegexp(`\r\x1b\[K\S Stack app, \d+s: Running update at revision [^\r\n]{1,30}…\r`), "it is cut at the width")
	u.Expect(written).To(HaveSuffix(clearLine + "✔ applied revision " + revision + "\r\n"))
	u.Expect(written).NotTo(ContainSubstring("\x1b[3"), "the words have no colour")

	dir := u.localDir(project("lab", "resources:\n"+
		"  a: {type: 'lab:index:Thing', properties: {name: other, value: two}}\n  d: {type: 'lab:index:Thing', properties: {name: d, value: x}}\n"))
	written, exit = u.onTerminal(nil, "preview", "stack", "app", "--path", dir)
	u.Expect(exit).To(Equal(1), written)
	u.Expect(written).To(And(ContainSubstring(inYellow+"+- lab:index:Thing a (replace)"+inPlain), ContainSubstring(inGreen+" + lab:index:Thing d (create)"+inPlain)))

	written, exit = u.onTerminal([]string{"NO_COLOR=1"}, "preview", "stack", "app", "--path", dir)
	u.Expect(exit).To(Equal(1), written)
	u.Expect(written).To(And(ContainSubstring("+- lab:index:Thing a (replace)\r\n"), Not(ContainSubstring("\x1b[3")), Not(ContainSubstring(inPlain))))
	u.Expect(written).To(ContainSubstring(clearLine+"⠋ "), "a spinner is no colour")

	out, errs, _ := u.run("preview", "stack", "app", "--path", dir)
	u.Expect(out).To(ContainSubstring("+- lab:index:Thing a (replace)\n"))
	u.Expect(out+errs).NotTo(Or(ContainSubstring("\x1b"), ContainSubstring("⠋")), "none of it on a pipe")
}
