// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

// asContainer starts a command like a container runtime: in its own namespaces, on a
// read-only root, as a user who cannot become another.
const asContainer = `set -e
root=$1 tmp=$2 user=$3
shift 3
mount --bind "$root" "$root"
mount --rbind /dev "$root/dev"
mount -t proc proc "$root/proc"
mount -o remount,bind,ro "$root"
mount --bind "$tmp" "$root/tmp"
exec setpriv --no-new-privs chroot --userspec="$user:$user" --groups= "$root" "$@"`

// container is the unpacked image.
type container struct {
	test *testing.T
	root string
	// tmp is the only writable directory.
	tmp string
}

// newContainer creates the mount points of a runtime.
func newContainer(t *testing.T, root string) container {
	t.Helper()
	g := NewWithT(t)
	c := container{test: t, root: root, tmp: t.TempDir()}
	g.Expect(os.Chmod(c.tmp, 0o777)).To(Succeed())
	for _, place := range []string{"dev", "proc"} {
		g.Expect(os.Mkdir(filepath.Join(root, place), 0o755)).To(Succeed())
	}
	if out, err := c.start("65534", nil, "/bin/sh", "-c", "true"); err != nil && os.Getuid() != 0 {
		t.Skipf("a container can only be made by root: %v %s", err, out)
	}
	return c
}

func (c container) start(user string, env []string, args ...string) (string, error) {
	command := exec.CommandContext(c.test.Context(), "unshare", append([]string{
		"--mount", "--pid", "--fork", "--kill-child", "/bin/sh", "-c", asContainer, "container", c.root, c.tmp, user,
	}, args...)...)
	// The image's programs, and those of this machine that the script above needs.
	command.Env = append([]string{"PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"}, env...)
	out, err := command.CombinedOutput()
	return string(out), err
}

// run runs a command of the image as its user, and returns the output.
func (c container) run(env []string, args ...string) string {
	c.test.Helper()
	return c.runAs("65534", env, args...)
}

func (c container) runAs(user string, env []string, args ...string) string {
	c.test.Helper()
	out, err := c.start(user, env, args...)
	if err != nil {
		c.test.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

func testRuns(t *testing.T, root string) {
	g := NewWithT(t)
	c := newContainer(t, root)
	g.Expect(c.run(nil, "/usr/bin/tini", "--", "/usr/local/bin/pulumi-controller", "--help")).To(ContainSubstring("--concurrent-runs"))

	_, err := c.start("65534", nil, "/bin/sh", "-c", "echo >/written")
	g.Expect(err).To(HaveOccurred(), "the root cannot be written")
	g.Expect(c.run(nil, "/bin/sh", "-c", "busybox id -u; busybox id -g; busybox id -un")).To(Equal("65534\n65534\nnobody\n"))

	t.Run("a program of Pulumi YAML", func(t *testing.T) { testUp(t, container{t, c.root, c.tmp}) })
	t.Run("a user without an entry", func(t *testing.T) { testUnlisted(t, container{t, c.root, t.TempDir()}) })
	t.Run("what ends under init is taken", func(t *testing.T) { testReaps(t, container{t, c.root, c.tmp}) })
}

// environment is roughly what a driver passes to Pulumi.
func environment() []string {
	return []string{
		"HOME=/tmp/home", "PULUMI_HOME=/tmp/home", "PULUMI_BACKEND_URL=file:///tmp/state", "PULUMI_CONFIG_PASSPHRASE=of the test",
		"PULUMI_SKIP_UPDATE_CHECK=true", "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION=true",
	}
}

// writeProgram writes a program and creates a directory for its state.
func (c container) writeProgram() {
	c.test.Helper()
	g := NewWithT(c.test)
	for _, dir := range []string{c.tmp, filepath.Join(c.tmp, "program"), filepath.Join(c.tmp, "state")} {
		g.Expect(os.MkdirAll(dir, 0o777)).To(Succeed())
		g.Expect(os.Chmod(dir, 0o777)).To(Succeed())
	}
	g.Expect(os.WriteFile(filepath.Join(c.tmp, "program/Pulumi.yaml"), []byte(`name: p
runtime: yaml
variables:
  greeting: hello
outputs:
  said: ${greeting} from the image
`), 0o644)).To(Succeed())
}

// testUp runs everything that it takes to bring up a program with the image's Pulumi.
func testUp(t *testing.T, c container) {
	g := NewWithT(t)
	g.Expect(c.run(environment(), "/usr/local/bin/pulumi", "version")).To(Equal(pinnedPulumi(t) + "\n"))
	c.writeProgram()
	pulumi := func(args ...string) string {
		return c.run(environment(), append([]string{"/usr/bin/tini", "--", "/usr/local/bin/pulumi", "--cwd", "/tmp/program", "--non-interactive"}, args...)...)
	}
	pulumi("stack", "init", "dev")
	g.Expect(pulumi("up", "--yes", "--skip-preview", "--stack", "dev")).To(ContainSubstring("hello from the image"))
	g.Expect(pulumi("stack", "output", "said", "--stack", "dev")).To(Equal("hello from the image\n"))
}

// testUnlisted has a user whom only the cluster knows make a stack: with the name that
// the driver gives to it Pulumi can write a lock.
func testUnlisted(t *testing.T, c container) {
	c.writeProgram()
	init := []string{"/usr/local/bin/pulumi", "--cwd", "/tmp/program", "--non-interactive", "stack", "init", "dev"}
	out, err := c.start("1000660000", environment(), init...)
	g := NewWithT(t)
	g.Expect(err).To(HaveOccurred(), "else the name is not needed any more")
	g.Expect(out).To(ContainSubstring("$USER"))
	c.runAs("1000660000", append(environment(), "USER=1000660000"), init...)
}

// pinnedPulumi returns the version in hack/tools/pulumi.
func pinnedPulumi(t *testing.T) string {
	t.Helper()
	for _, line := range lines(t, "hack/tools/pulumi/go.mod") {
		if version, ok := strings.CutPrefix(line, "github.com/pulumi/pulumi/pkg/v3 "); ok {
			return strings.Fields(version)[0]
		}
	}
	t.Fatal("no version of Pulumi is pinned")
	return ""
}

// testReaps leaves a process to the init of the container that ends after its
// parent, and looks for what is left of it.
func testReaps(t *testing.T, c container) {
	out := c.run(nil, "/usr/bin/tini", "--", "/bin/sh", "-c",
		// The inner shell ends at once; sleep then belongs to init. Its entry is gone when init has taken it.
		`pid=$(sh -c 'busybox sleep 0.1 >/dev/null & echo $!')
		i=0; while [ -e /proc/$pid ]; do busybox sleep 0.1; i=$((i+1)); [ $i -lt 300 ] || { busybox cat /proc/$pid/stat; exit 1; }; done; echo taken`)
	NewWithT(t).Expect(out).To(Equal("taken\n"))
}
