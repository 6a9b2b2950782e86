// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/flux-pulumi/pulumi-controller/tests/process"
)

const (
	kubelet      = "kubelet"
	startTimeout = 60 * time.Second
	stopGrace    = 10 * time.Second
	// ContainerdSocket is the socket of containerd on the node.
	ContainerdSocket = "/run/containerd/containerd.sock"
)

// running is a running node.
type running struct {
	spec Spec
	ctx  context.Context

	mu       sync.Mutex
	programs map[string]*process.Process
	failed   chan error
}

// Run runs the node until a signal, or until one of its programs ends.
func Run(ctx context.Context, dir string) error {
	spec, err := Read(dir)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := mountAll(spec); err != nil {
		return err
	}
	if err := joinNetwork(ctx, spec); err != nil {
		return err
	}
	for name, content := range files(spec) {
		if err := os.MkdirAll(filepath.Dir(spec.Path(name)), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(spec.Path(name), []byte(content), 0o644); err != nil {
			return err
		}
	}
	r := &running{spec: spec, ctx: ctx, programs: map[string]*process.Process{}, failed: make(chan error, 1)}
	for _, c := range components(spec) {
		if err := r.start(c); err != nil {
			return err
		}
	}
	controlled, err := r.serveControl()
	if err != nil {
		return err
	}
	defer func() { _ = controlled.Close() }()
	select {
	case <-ctx.Done():
		// There is nothing to save: nothing outlives the node.
		return nil
	case err := <-r.failed:
		return err
	}
}

// start starts a component, and returns when it listens.
func (r *running) start(c component) error {
	// The end of the PID namespace ends everything at once, so there is no order to keep.
	started, err := process.Start(context.WithoutCancel(r.ctx), c.process(r.spec))
	if err != nil {
		return err
	}
	r.mu.Lock()
	r.programs[c.name] = started
	r.mu.Unlock()
	var probe func(context.Context) error
	switch {
	case c.port != 0:
		probe = process.TCPProbe(net.JoinHostPort(r.spec.NodeAddress(), strconv.Itoa(c.port)))
	case c.socket != "":
		probe = process.SocketProbe(c.socket)
	}
	if probe != nil {
		if err := started.Await(r.ctx, startTimeout, probe); err != nil {
			return err
		}
	}
	go func() {
		err := started.Wait()
		r.mu.Lock()
		defer r.mu.Unlock()
		// The end of a component that was killed on purpose is expected.
		if r.programs[c.name] != started {
			return
		}
		select {
		case r.failed <- errors.Join(fmt.Errorf("%s has ended", c.name), err):
		default: // the first one is reported
		}
	}()
	return nil
}

// kill kills a component, like a crash.
func (r *running) kill(name string) error {
	r.mu.Lock()
	found := r.programs[name]
	delete(r.programs, name)
	r.mu.Unlock()
	if found == nil {
		return fmt.Errorf("%s does not run", name)
	}
	return found.Kill()
}

// again restarts a component that was killed.
func (r *running) again(name string) error {
	r.mu.Lock()
	found := r.programs[name]
	r.mu.Unlock()
	if found != nil {
		return fmt.Errorf("%s runs already", name)
	}
	for _, c := range components(r.spec) {
		if c.name == name {
			return r.start(c)
		}
	}
	return fmt.Errorf("the node has no %s", name)
}
