// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

// Spec is the configuration of a node. It is a file, which is also how others find a
// running node.
type Spec struct {
	// Dir is where the node writes all its files.
	Dir string `json:"dir"`
	// Bin has the programs of Kubernetes, and Packages the unpacked packages of Debian.
	Bin      string `json:"bin"`
	Packages string `json:"packages"`
	// Number distinguishes the networks, the interface and the cgroup of this node from
	// those of others on the machine.
	Number int `json:"number"`
	// Token of a cluster admin.
	Token string `json:"token"`
	// Overlay reports whether containers can have overlay layers instead of copies.
	Overlay bool `json:"overlay"`
	// Tied ends the node with the process that started it.
	Tied bool `json:"tied"`
}

// The networks are in the range for tests of network devices (RFC 2544), which no machine
// uses. 198.18.N.0/30 links the machine and node N, and 198.19.N.0/24 has its pods. The
// Services are known on the node only.
const (
	servicesCIDR = "10.96.0.0/16"
	servicesIP   = "10.96.0.1"
	apiPort      = 6443
	// NodeName is the name of the node in Kubernetes.
	NodeName = "node"
	// PauseImage is the image of the pause container of each pod.
	PauseImage = "pulumi-controller.test/pause:1"
)

// HostAddress is the address of the machine, as seen from pods.
func (s Spec) HostAddress() string { return fmt.Sprintf("198.18.%d.1", s.Number) }

// NodeAddress is the address of the node.
func (s Spec) NodeAddress() string { return fmt.Sprintf("198.18.%d.2", s.Number) }

// PodsCIDR is the network of the pods.
func (s Spec) PodsCIDR() string { return fmt.Sprintf("198.19.%d.0/24", s.Number) }

// ServerNames are the names and addresses of the API server, including those for pods.
func (s Spec) ServerNames() []string {
	return []string{s.NodeAddress(), servicesIP, "kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local"}
}

// Interface is the machine's end of the link to the node.
func (s Spec) Interface() string { return fmt.Sprintf("pctest%d", s.Number) }

// Cgroup is the parent of the cgroups of all pods.
func (s Spec) Cgroup() string { return fmt.Sprintf("/pctest%d", s.Number) }

// Server is the URL of the API server.
func (s Spec) Server() string { return fmt.Sprintf("https://%s:%d", s.NodeAddress(), apiPort) }

// Path returns a path in the directory of the node.
func (s Spec) Path(elements ...string) string {
	return filepath.Join(append([]string{s.Dir}, elements...)...)
}

// Kubeconfig is the path of the kubeconfig of a cluster admin.
func (s Spec) Kubeconfig() string { return s.Path("kubeconfig") }

// Environment makes the programs and libraries of the packages available.
func (s Spec) Environment() []string {
	usr := filepath.Join(s.Packages, "usr")
	// Installed programs come last: they may be from another release.
	path := filepath.Join(usr, "sbin") + ":" + filepath.Join(usr, "bin") + ":/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
	libraries := filepath.Join(usr, "lib", triplet()) + ":" + filepath.Join(s.Packages, "lib", triplet())
	return []string{"PATH=" + path, "LD_LIBRARY_PATH=" + libraries, "HOME=" + s.Dir, "TMPDIR=" + s.Path("tmp")}
}

// triplet returns Debian's name of the directory of libraries.
func triplet() string {
	if runtime.GOARCH == "arm64" {
		return "aarch64-linux-gnu"
	}
	return "x86_64-linux-gnu"
}

// Read reads the Spec that Write wrote.
func Read(dir string) (Spec, error) {
	var spec Spec
	data, err := os.ReadFile(filepath.Join(dir, "node.json"))
	if err != nil {
		return spec, err
	}
	if err := json.Unmarshal(data, &spec); err != nil {
		return spec, fmt.Errorf("reading what the node of %s is: %w", dir, err)
	}
	return spec, nil
}

// Write keeps the Spec in its directory.
func (s Spec) Write() error {
	data, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(s.Path("node.json"), data, 0o600)
}

// lookPath finds a program in the packages or on the machine.
func (s Spec) lookPath(name string) (string, error) {
	for _, dir := range []string{"usr/sbin", "usr/bin", "sbin", "bin"} {
		path := filepath.Join(s.Packages, dir, name)
		// Not a link: in Debian, those point to where a package is installed.
		if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() {
			return path, nil
		}
	}
	for _, dir := range []string{"/usr/sbin", "/usr/bin", "/sbin", "/bin"} {
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("neither the packages nor the machine have %s", name)
}
