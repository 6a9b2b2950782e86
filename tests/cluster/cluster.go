// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package cluster is a real Kubernetes node for tests: kubelet, containerd and the
// control plane on this machine, as root, without Docker, a registry or any installation.
// All of it runs in its own namespaces (package node), linked to the machine by one
// network interface, so that it can be ended in any state and leaves nothing behind.
//
// It knows nothing of Flux or Stacks, and must not import testing, because `make
// cluster-up` uses it too.
package cluster

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"k8s.io/client-go/rest"

	"github.com/flux-pulumi/pulumi-controller/tests/cluster/node"
	"github.com/flux-pulumi/pulumi-controller/tests/controlplane"
	"github.com/flux-pulumi/pulumi-controller/tests/process"
)

// Options of a cluster.
type Options struct {
	// Dir is created, and must not exist. Empty is bin/node/cluster of this repository.
	Dir string
	// Detached lets the cluster outlive this program, until Down. Otherwise it ends with
	// it.
	Detached bool
}

// Cluster is a running cluster.
type Cluster struct {
	spec node.Spec
	pid  int
	// tie is open for as long as the cluster lives, unless it is detached.
	tie *os.File
}

const (
	upTimeout   = 3 * time.Minute
	downTimeout = 30 * time.Second
)

// ErrUp reports that the directory already has a running cluster.
var ErrUp = errors.New("a cluster is up already")

// Up starts a cluster and returns when its node is ready. It has one node, DNS, Services
// and the restricted Pod Security Standard, but no storage, and no image but the pause
// image.
func Up(ctx context.Context, options Options) (*Cluster, error) {
	ctx, cancel := context.WithTimeout(ctx, upTimeout)
	defer cancel()
	spec, err := place(options)
	if err != nil {
		return nil, err
	}
	if _, err := Open(spec.Dir); err == nil {
		return nil, fmt.Errorf("%w in %s, with KUBECONFIG=%s", ErrUp, spec.Dir, spec.Kubeconfig())
	}
	if spec.Overlay, err = check(ctx, spec); err != nil {
		return nil, err
	}
	// Left by a cluster that was killed.
	if err := Down(ctx, spec.Dir); err != nil {
		return nil, err
	}
	c := &Cluster{spec: spec}
	if err := c.up(ctx, options.Detached); err != nil {
		err = errors.Join(fmt.Errorf("starting a cluster: %w", err), c.quoteLogs())
		return nil, errors.Join(err, c.Down(context.WithoutCancel(ctx)))
	}
	return c, nil
}

// place returns the Spec with the files that a cluster needs.
func place(options Options) (spec node.Spec, err error) {
	program, err := process.FindBin("cluster")
	if err != nil {
		return spec, err
	}
	spec = node.Spec{Bin: filepath.Dir(program), Token: rand.Text(), Tied: !options.Detached}
	spec.Packages = filepath.Join(spec.Bin, "node", "root")
	spec.Dir = options.Dir
	if spec.Dir == "" {
		spec.Dir = filepath.Join(spec.Bin, "node", "cluster")
	}
	spec.Dir, err = filepath.Abs(spec.Dir)
	return spec, err
}

// DefaultDir is the directory of a cluster without Options.Dir.
func DefaultDir() (string, error) {
	spec, err := place(Options{})
	return spec.Dir, err
}

// Open returns the running cluster of a directory.
func Open(dir string) (*Cluster, error) {
	spec, err := node.Read(dir)
	if err != nil {
		return nil, fmt.Errorf("finding the cluster of %s: %w", dir, err)
	}
	pid, err := running(spec)
	if err != nil {
		return nil, fmt.Errorf("finding the cluster of %s: %w", dir, err)
	}
	return &Cluster{spec: spec, pid: pid}, nil
}

func (c *Cluster) up(ctx context.Context, detached bool) error {
	if err := os.MkdirAll(c.spec.Path("tmp"), 0o755); err != nil {
		return err
	}
	if err := plugCable(ctx, &c.spec); err != nil {
		return err
	}
	if err := c.spec.Write(); err != nil {
		return err
	}
	certificate, err := controlplane.WriteServerFiles(c.spec.Dir, c.spec.Token, c.spec.ServerNames()...)
	if err != nil {
		return err
	}
	config := &rest.Config{Host: c.spec.Server(), BearerToken: c.spec.Token, TLSClientConfig: rest.TLSClientConfig{CAData: certificate}}
	if err := controlplane.WriteKubeconfig(c.spec.Kubeconfig(), config); err != nil {
		return err
	}
	if err := makeCgroups(c.spec.Cgroup()); err != nil {
		return err
	}
	ended, err := c.start(detached)
	if err != nil {
		return err
	}
	if err := giveCable(ctx, c.spec, c.pid); err != nil {
		return err
	}
	if err := c.awaitReady(ctx, config, ended); err != nil {
		return err
	}
	// No pod can start without it.
	return c.LoadImage(ctx, filepath.Join(c.spec.Bin, "images", "pause.tar"))
}

// start starts the first process of the node. The channel receives its end.
func (c *Cluster) start(detached bool) (<-chan error, error) {
	log, err := os.OpenFile(c.spec.Path("node.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }() // the child has its own descriptor
	command := exec.Command(filepath.Join(c.spec.Bin, "cluster"), "init", c.spec.Dir)
	command.Dir, command.Env = c.spec.Dir, c.spec.Environment()
	command.Stdout, command.Stderr = log, log
	command.SysProcAttr = namespaces()
	if !detached {
		read, write, err := os.Pipe()
		if err != nil {
			return nil, err
		}
		defer func() { _ = read.Close() }() // the child has its own descriptor
		command.Stdin, c.tie = read, write
	}
	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("starting a process in namespaces of its own: %w", err)
	}
	c.pid = command.Process.Pid
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }()
	return ended, noteRunning(c.spec, c.pid)
}

func namespaces() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWNET | syscall.CLONE_NEWIPC | syscall.CLONE_NEWUTS,
		// Ctrl-C in the terminal must not reach it.
		Setsid: true,
	}
}

// Kubeconfig is the path of the kubeconfig of a cluster admin.
func (c *Cluster) Kubeconfig() string { return c.spec.Kubeconfig() }

// HostAddress is the address of this machine as seen from pods, which can connect to it.
func (c *Cluster) HostAddress() string { return c.spec.HostAddress() }

// PodsCIDR is the network of the pods.
func (c *Cluster) PodsCIDR() string { return c.spec.PodsCIDR() }

// Dir has the logs of all components.
func (c *Cluster) Dir() string { return c.spec.Dir }

// LoadImage loads the images of an archive, such as those of `make image`, into the node.
func (c *Cluster) LoadImage(ctx context.Context, archive string) error {
	ctr := filepath.Join(c.spec.Packages, "usr", "bin", "ctr")
	args := []string{"--address", node.On(c.pid, node.ContainerdSocket), "--namespace", "k8s.io", "images", "import"}
	if !c.spec.Overlay {
		args = append(args, "--snapshotter", "native")
	}
	command := exec.CommandContext(ctx, ctr, append(args, archive)...)
	command.Env = c.spec.Environment()
	if output, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("loading %s: %w: %s", archive, err, output)
	}
	return nil
}

// KillKubelet kills the kubelet, like a crash. Containers continue.
func (c *Cluster) KillKubelet(ctx context.Context) error {
	return node.Control(ctx, c.pid, "kill", "kubelet")
}

// StartKubelet restarts the kubelet.
func (c *Cluster) StartKubelet(ctx context.Context) error {
	return node.Control(ctx, c.pid, "start", "kubelet")
}

// Down ends the cluster and removes all its files.
func (c *Cluster) Down(ctx context.Context) error {
	if c.tie != nil {
		_ = c.tie.Close() // its process is ended below in any case
	}
	return Down(ctx, c.spec.Dir)
}

// quoteLogs returns the last lines of the logs as an error, because the logs are removed
// with the cluster.
func (c *Cluster) quoteLogs() error {
	logs, err := filepath.Glob(c.spec.Path("*.log"))
	if err != nil {
		return err
	}
	var quoted []error
	for _, path := range logs {
		log, err := os.ReadFile(path)
		if err != nil || len(log) == 0 {
			continue
		}
		lines := strings.Split(strings.TrimSpace(string(log)), "\n")
		quoted = append(quoted, fmt.Errorf("%s: %s", filepath.Base(path), strings.Join(lines[max(0, len(lines)-8):], "\n")))
	}
	return errors.Join(quoted...)
}
