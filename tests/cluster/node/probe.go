// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// ProbeOverlay is printed if containers can have overlay layers.
const ProbeOverlay = "overlay"

// Probe tries out all that a node needs, in the namespaces of this process, and starts a
// container in the cgroup.
func Probe(ctx context.Context, dir, cgroup string, out io.Writer) error {
	spec, err := Read(dir)
	if err != nil {
		return err
	}
	if err := mountAll(spec); err != nil {
		return err
	}
	if err := ip(ctx, spec, "link", "set", "lo", "up"); err != nil {
		return err
	}
	// kube-proxy needs rules of these kinds.
	if err := spec.Command(ctx, "nft", "add table ip probe; add chain ip probe nat { type nat hook prerouting priority 0; }; "+
		"add rule ip probe nat ip daddr 192.0.2.1 tcp dport 80 numgen random mod 1 vmap { 0 : accept }; "+
		"add rule ip probe nat fib daddr type local ct state new meta mark set 1; delete table ip probe"); err != nil {
		return fmt.Errorf("the kernel lacks what Services are made with: %w", err)
	}
	if err := runContainer(ctx, spec, cgroup); err != nil {
		return fmt.Errorf("starting a container: %w", err)
	}
	if err := tryOverlay(spec); err == nil {
		_, err = fmt.Fprintln(out, ProbeOverlay)
		return err
	}
	return nil
}

func tryOverlay(spec Spec) error {
	for _, dir := range []string{"lower", "upper", "work", "merged"} {
		if err := os.MkdirAll(filepath.Join("/var/probe", dir), 0o755); err != nil {
			return err
		}
	}
	return unix.Mount("overlay", "/var/probe/merged", "overlay", 0,
		"lowerdir=/var/probe/lower,upperdir=/var/probe/upper,workdir=/var/probe/work")
}

// runContainer starts the pause container.
func runContainer(ctx context.Context, spec Spec, cgroup string) error {
	bundle := spec.Path("bundle")
	if err := os.MkdirAll(filepath.Join(bundle, "rootfs"), 0o755); err != nil {
		return err
	}
	program, err := os.ReadFile(filepath.Join(spec.Bin, "pause"))
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(bundle, "rootfs", "pause"), program, 0o755); err != nil {
		return err
	}
	type object = map[string]any
	config, err := json.Marshal(object{
		"ociVersion": "1.0.2",
		"root":       object{"path": "rootfs"},
		"process": object{
			"args": []string{"/pause", "end"}, "cwd": "/", "user": object{"uid": 65534, "gid": 65534}, "noNewPrivileges": true,
		},
		"mounts": []object{{"destination": "/proc", "type": "proc", "source": "proc"}},
		"linux": object{
			"cgroupsPath": cgroup + "/probe",
			"resources":   object{"memory": object{"limit": 64 << 20}, "pids": object{"limit": 100}, "cpu": object{"shares": 100}},
			"namespaces":  []object{{"type": "pid"}, {"type": "mount"}, {"type": "network"}, {"type": "ipc"}, {"type": "uts"}},
			"seccomp": object{"defaultAction": "SCMP_ACT_ALLOW", "syscalls": []object{
				{"names": []string{"reboot"}, "action": "SCMP_ACT_ERRNO"},
			}},
		},
	})
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(bundle, "config.json"), config, 0o644); err != nil {
		return err
	}
	return spec.Command(ctx, "runc", "--root", "/run/runc", "run", "--bundle", bundle, "probe")
}
