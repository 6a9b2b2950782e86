// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/lockdown"
	"github.com/flux-pulumi/pulumi-controller/internal/sandbox"
)

func TestWhatTheModesOfTheSandboxDoWithAKernel(t *testing.T) {
	const (
		off     = "local runs have no sandbox, because of --sandbox=off: programs can read the token and the files of the controller and of other runs"
		warning = "local runs have no sandbox: "
		advice  = ". Programs can read the token and the files of the controller and of other runs: use another node, or --runner=job. --sandbox=off says that this is intended"
		none    = "the kernel has no Landlock, or a seccomp profile forbids it"
		old     = "the Landlock of the kernel is too old: it has ABI 1, and needs 2, that of Linux 5.19"
		refused = "--sandbox=required: "
		instead = ": use another node, or --runner=job"
	)
	for _, c := range []struct {
		mode           string
		abi            int
		isOn           bool
		warning, fails string
	}{
		{"auto", 0, false, warning + none + advice, ""},
		{"auto", 1, false, warning + old + advice, ""},
		{"auto", 2, true, "", ""},
		{"auto", 7, true, "", ""},
		{"required", 0, false, "", refused + none + instead},
		{"required", 1, false, "", refused + old + instead},
		{"required", 2, true, "", ""},
		{"required", 7, true, "", ""},
		{"off", 0, false, off, ""},
		{"off", 7, false, off, ""},
	} {
		g := NewWithT(t)
		isOn, warning, err := decideSandbox(c.mode, sandbox.Kernel{ABI: c.abi})
		g.Expect(isOn).To(Equal(c.isOn), "%s, ABI %d", c.mode, c.abi)
		g.Expect(warning).To(Equal(c.warning))
		if warning != "" {
			g.Expect(warning).To(HavePrefix(lockdown.NoSandbox), "flux pulumi check finds it in the log")
		}
		if c.fails == "" {
			g.Expect(err).NotTo(HaveOccurred())
		} else {
			g.Expect(err).To(MatchError(c.fails))
		}
	}
}

func TestListedPathsThatDoNotExistAreNoticed(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	missing := filepath.Join(dir, "missing")
	g.Expect(absent([]string{dir, missing}, []string{"/dev/null"})).To(Equal([]string{missing}))
	g.Expect(absent(nil, nil)).To(BeEmpty())
}

func TestALanguageThatIsElsewhereIsNoticed(t *testing.T) {
	g := NewWithT(t)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	g.Expect(err).NotTo(HaveOccurred())
	bin, python, node := filepath.Join(dir, "bin"), filepath.Join(dir, "versions/3.12/bin/python3.12"), filepath.Join(dir, "node/bin/node")
	for _, path := range []string{python, node, filepath.Join(bin, "go")} {
		g.Expect(os.MkdirAll(filepath.Dir(path), 0o700)).To(Succeed())
		g.Expect(os.WriteFile(path, nil, 0o700)).To(Succeed())
	}
	g.Expect(os.Symlink(python, filepath.Join(bin, "python3"))).To(Succeed())
	g.Expect(os.Symlink(node, filepath.Join(bin, "node"))).To(Succeed())
	g.Expect(os.Symlink(filepath.Join(dir, "absent"), filepath.Join(bin, "npm"))).To(Succeed())

	rules := sandbox.Reads(python, filepath.Join(dir, "node")) // the program alone is of no use
	g.Expect(unreachable([]string{bin, filepath.Join(dir, "absent")}, rules)).
		To(Equal(map[string]string{filepath.Join(bin, "python3"): filepath.Join(dir, "versions/3.12")}))
	g.Expect(unreachable([]string{bin}, append(rules, sandbox.Reads(filepath.Join(dir, "versions"))...))).To(BeEmpty())
}
