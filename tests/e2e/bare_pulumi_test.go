// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/tests/process"
	"github.com/flux-pulumi/pulumi-controller/tests/sources"
)

// barePulumi is a person with the CLI alone, in a directory of the program, and with the backend of the tenant.
type barePulumi struct {
	t          *tenant
	dir, home  string
	program    string
	passphrase string
}

// barePulumi writes the files of the program. Its calls are not counted.
func (t *tenant) barePulumi(files sources.Files) *barePulumi {
	t.test.Helper()
	dir := filepath.Join(filepath.Dir(t.backend), "bare")
	b := &barePulumi{t: t, dir: dir, home: filepath.Join(dir, "home"), passphrase: passphrase}
	b.installs("lab-v0.1.0", "pulumi-resource-lab")
	b.installs("aws-v5.42.0", "pulumi-resource-standin")
	var err error
	b.program, err = process.FindBin("pulumi")
	t.Expect(err).NotTo(HaveOccurred())
	b.write(files)
	return b
}

// installs adds a provider to the plugins of the person.
func (b *barePulumi) installs(provider, program string) {
	b.t.test.Helper()
	dir := filepath.Join(b.home, "plugins", "resource-"+provider)
	b.t.Expect(os.MkdirAll(dir, 0o755)).To(Succeed())
	path, err := process.FindBin(filepath.Join("lab", program))
	b.t.Expect(err).NotTo(HaveOccurred())
	name, _, _ := strings.Cut(provider, "-v")
	b.t.Expect(os.Symlink(path, filepath.Join(dir, "pulumi-resource-"+name))).To(Succeed())
}

// write saves the files of a program.
func (b *barePulumi) write(files sources.Files) {
	b.t.test.Helper()
	for name, text := range files {
		b.t.Expect(os.WriteFile(filepath.Join(b.dir, name), []byte(text), 0o644)).To(Succeed())
	}
}

// run calls the CLI, which reads what the person types.
func (b *barePulumi) run(typed string, args ...string) {
	b.t.test.Helper()
	cmd := exec.CommandContext(b.t.ctx, b.program, append(args, "--non-interactive")...)
	cmd.Dir, cmd.Stdin = b.dir, strings.NewReader(typed)
	cmd.Env = []string{
		"HOME=" + b.home, "PULUMI_HOME=" + b.home, "PATH=" + filepath.Dir(b.program) + ":/usr/bin:/bin", "PULUMI_BACKEND_URL=" + b.t.backendURL(),
		"PULUMI_CONFIG_PASSPHRASE=" + b.passphrase, "PULUMI_SKIP_UPDATE_CHECK=true",
		"PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION=true", "TMPDIR=" + b.t.test.TempDir(), "STAND_IN_CLOUD=" + b.t.place,
	}
	output, err := cmd.CombinedOutput()
	b.t.Expect(err).NotTo(HaveOccurred(), "pulumi %s: %s", args[0], output)
}

// files are the files in the directory of the program.
func (b *barePulumi) files() sources.Files {
	b.t.test.Helper()
	entries, err := os.ReadDir(b.dir)
	b.t.Expect(err).NotTo(HaveOccurred())
	files := sources.Files{}
	for _, entry := range entries {
		if entry.IsDir() {
			continue
		}
		text, err := os.ReadFile(filepath.Join(b.dir, entry.Name()))
		b.t.Expect(err).NotTo(HaveOccurred())
		files[entry.Name()] = string(text)
	}
	return files
}
