// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// sysctls are settings of the whole machine that a kubelet requires. They are mounted
// over with these values, and not changed.
var sysctls = map[string]string{
	"vm/overcommit_memory": "1", "vm/panic_on_oom": "0", "kernel/panic": "10", "kernel/panic_on_oops": "1",
	"kernel/keys/root_maxkeys": "1000000", "kernel/keys/root_maxbytes": "25000000",
}

// mountAll sets up the mounts of the node: whatever programs write below /run and /var
// belongs to the node, and goes with it.
func mountAll(spec Spec) error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("keeping mounts from the machine: %w", err)
	}
	if err := keepReachable(spec); err != nil {
		return err
	}
	// Pods may ask for shared mounts.
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_SHARED, ""); err != nil {
		return fmt.Errorf("sharing mounts with containers: %w", err)
	}
	if err := unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("mounting /proc: %w", err)
	}
	return showSysctls(spec)
}

// keepReachable mounts over /run and /var, and mounts again what the node needs from the
// machine in one of them.
func keepReachable(spec Spec) error {
	needed := map[string]int{}
	for _, dir := range []string{spec.Dir, spec.Bin, spec.Packages} {
		if !strings.HasPrefix(dir, "/run/") && !strings.HasPrefix(dir, "/var/") {
			continue
		}
		opened, err := unix.Open(dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		if err != nil {
			return fmt.Errorf("opening %s: %w", dir, err)
		}
		defer func() { _ = unix.Close(opened) }() // only a name
		needed[dir] = opened
	}
	if err := os.MkdirAll(spec.Path("var"), 0o755); err != nil {
		return err
	}
	if err := unix.Mount("tmpfs", "/run", "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=755,size=256m"); err != nil {
		return fmt.Errorf("mounting /run: %w", err)
	}
	if err := unix.Mount(spec.Path("var"), "/var", "", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("mounting /var: %w", err)
	}
	for dir, opened := range needed {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		if err := unix.Mount(fmt.Sprintf("/proc/self/fd/%d", opened), dir, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
			return fmt.Errorf("mounting %s: %w", dir, err)
		}
	}
	for _, dir := range []string{"/run/lock", "/run/netns", "/var/log", "/var/lib", "/var/tmp"} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	// Many programs use the other name.
	return os.Symlink("/run", "/var/run")
}

func showSysctls(spec Spec) error {
	for name, value := range sysctls {
		shown := spec.Path("sysctl", filepath.Base(name))
		if err := os.MkdirAll(filepath.Dir(shown), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(shown, []byte(value+"\n"), 0o644); err != nil {
			return err
		}
		if err := unix.Mount(shown, filepath.Join("/proc/sys", name), "", unix.MS_BIND, ""); err != nil {
			return fmt.Errorf("mounting /proc/sys/%s: %w", name, err)
		}
	}
	return nil
}
