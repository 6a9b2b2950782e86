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

// Spec is all that a node is told. It is kept as a file, which is also how others find a node that runs.
type Spec struct {
	// Dir is where everything is kept that the node writes.
	Dir string `json:"dir"`
	// Bin has the programs of Kubernetes, Packages what was unpacked of Debian.
	Bin      string `json:"bin"`
	Packages string `json:"packages"`
	// Number tells the networks, the interface and the cgroup of this node from those of others on the machine.
	Number int `json:"number"`
	// Token is that of who may do everything.
	Token string `json:"token"`
	// Overlay tells that containers can have layers of file systems in place of copies.
	Overlay bool `json:"overlay"`
	// Tied ends the node with the process that started it.
	Tied bool `json:"tied"`
}

// Networks of the range that is for the tests of network devices (RFC 2544), which no machine is in: 198.18.N.0/30 joins the
// machine and node N, 198.19.N.0/24 has its pods. The Services are known on the node only.
const (
	servicesCIDR = "10.96.0.0/16"
	servicesIP   = "10.96.0.1"
	apiPort      = 6443
	// NodeName is what Kubernetes calls the node.
	NodeName = "node"
	// PauseImage is held by each pod.
	PauseImage = "pulumi-controller.test/pause:1"
)

// HostAddress is that of the machine, as pods see it.
func (s Spec) HostAddress() string { return fmt.Sprintf("198.18.%d.1", s.Number) }

// NodeAddress is that of the node.
func (s Spec) NodeAddress() string { return fmt.Sprintf("198.18.%d.2", s.Number) }

// PodsCIDR is the network of the pods.
func (s Spec) PodsCIDR() string { return fmt.Sprintf("198.19.%d.0/24", s.Number) }

// ServerNames are what the API server is known by, to pods too.
func (s Spec) ServerNames() []string {
	return []string{s.NodeAddress(), servicesIP, "kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local"}
}

// Interface is the machine's end of the cable to the node.
func (s Spec) Interface() string { return fmt.Sprintf("pctest%d", s.Number) }

// Cgroup is the one that all pods are in.
func (s Spec) Cgroup() string { return fmt.Sprintf("/pctest%d", s.Number) }

// Server is the address of the API.
func (s Spec) Server() string { return fmt.Sprintf("https://%s:%d", s.NodeAddress(), apiPort) }

// Path is one in the directory of the node.
func (s Spec) Path(elements ...string) string {
	return filepath.Join(append([]string{s.Dir}, elements...)...)
}

// Kubeconfig is that of who may do everything.
func (s Spec) Kubeconfig() string { return s.Path("kubeconfig") }

// Environment has the programs and the libraries of the packages found.
func (s Spec) Environment() []string {
	usr := filepath.Join(s.Packages, "usr")
	// What is installed comes last: it may be of another release.
	path := filepath.Join(usr, "sbin") + ":" + filepath.Join(usr, "bin") + ":/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
	libraries := filepath.Join(usr, "lib", triplet()) + ":" + filepath.Join(s.Packages, "lib", triplet())
	return []string{"PATH=" + path, "LD_LIBRARY_PATH=" + libraries, "HOME=" + s.Dir, "TMPDIR=" + s.Path("tmp")}
}

// triplet is how Debian names the directory of libraries.
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

// lookPath finds a program of the packages, or of the machine.
func (s Spec) lookPath(name string) (string, error) {
	for _, dir := range []string{"usr/sbin", "usr/bin", "sbin", "bin"} {
		path := filepath.Join(s.Packages, dir, name)
		// Not a link: those of Debian lead to where a package is installed.
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
