// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package jobs tests runs as Kubernetes Jobs: with the real API server and kube-controller-manager, the controller
// with only the permissions of config/default and config/runner-jobs, and pods that tests/kubelet runs as processes,
// with the real runner, Pulumi and lab provider.
package jobs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/flux-pulumi/pulumi-controller/tests/controlplane"
	"github.com/flux-pulumi/pulumi-controller/tests/kubelet"
	"github.com/flux-pulumi/pulumi-controller/tests/process"
	"github.com/flux-pulumi/pulumi-controller/tests/rights"
	"github.com/flux-pulumi/pulumi-controller/tests/sources"
	"github.com/flux-pulumi/pulumi-controller/tests/system"
)

// image is the image of the pods of runs.
const image = "ghcr.io/flux-pulumi/pulumi-controller:test"

// language is the image of the pods of runs whose program is in the language of tests/lab.
const language = "registry.example.com/lab:test"

// nodeImage also has Node.js and its language host.
const nodeImage = "pulumi-nodejs:test"

// sleeper is the image of pods that do nothing but wait.
const sleeper = "sleep"

// The limits of Jobs at a time, in total and per namespace.
const concurrent, perNamespace = 3, 2

// cluster is the system with a node to run pods on.
type cluster struct {
	*system.System
	kubelet *kubelet.Kubelet
	manager *controlplane.ControllerManager
	git     *sources.GitServer
	stop    context.CancelFunc
}

// shared is the cluster of all tests: TestMain has no other way to hand it on. They run one after the other, as they were seen to
// hold each other up on two processors.
var shared *cluster

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard()) // the client's logger, which complains if it is not set
	if err := kubelet.CanRun(); err != nil {
		fmt.Fprintln(os.Stderr, "the tests of this package are left out:", err)
		return
	}
	code, err := runTests(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(code)
}

func runTests(m *testing.M) (code int, err error) {
	dir, err := os.MkdirTemp("", "pulumi-controller-jobs-")
	if err != nil {
		return 1, err
	}
	if os.Getenv("KEEP") == "" {
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	} else {
		fmt.Fprintln(os.Stderr, "all that is written stays in", dir)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if shared, err = start(ctx, dir); err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, shared.end()) }()
	code = m.Run()
	return code, shared.allowed()
}

// start starts the cluster in the directory.
func start(ctx context.Context, dir string) (*cluster, error) {
	for _, name := range []string{"system", "node", "manager", "git"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			return nil, err
		}
	}
	c := &cluster{}
	var err error
	c.System, err = system.Start(ctx, system.Options{
		Dir: filepath.Join(dir, "system"), Installed: true, Config: "tests/jobs/testdata/config",
		WritePaths: []string{filepath.Join(dir, "system", "teams")}, // for local runs after a switch
		ControllerArgs: []string{
			"--runner=job", "--feature-gates=ObjectLevelWorkloadIdentity=true", "--runner-image=" + image, "--runner-images=lab=" + language, "--enable-leader-election",
			"--leader-election-lease-duration=15s", "--leader-election-renew-deadline=12s", "--leader-election-retry-period=1s",
			// The backend and the plugins are on volumes of the machine.
			"--runner-pod-security=privileged",
			fmt.Sprintf("--concurrent-runs=%d", concurrent), fmt.Sprintf("--concurrent-runs-per-namespace=%d", perNamespace),
		},
	})
	if err != nil {
		return nil, err
	}
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	c.stop = cancel
	c.manager, err = controlplane.StartControllerManager(running, c.ControlPlane, filepath.Join(dir, "manager"), filepath.Join(dir, "system"),
		"job-controller", "garbage-collector-controller", "ttl-after-finished-controller", "resourcequota-controller")
	if err != nil {
		return nil, errors.Join(err, c.end())
	}
	program, err := process.FindBin("pulumi-controller")
	if err != nil {
		return nil, errors.Join(err, c.end())
	}
	nodeHost, err := process.FindBin(filepath.Join("lab", "pulumi-language-nodejs"))
	if err != nil {
		return nil, errors.Join(err, c.end())
	}
	own := kubelet.Image{
		Entrypoint: []string{program}, Path: filepath.Dir(program) + ":/usr/bin:/bin",
		// As in Pulumi's images, no run can write there.
		Env: []string{"GOPATH=/dev/null/go", "XDG_CACHE_HOME=/dev/null/cache"},
	}
	c.kubelet, err = kubelet.Start(running, kubelet.Options{
		Config: c.ControlPlane.RESTConfig(), Dir: filepath.Join(dir, "node"),
		Images: map[string]kubelet.Image{
			image: own, language: own, sleeper: {Entrypoint: []string{"sleep"}, Path: "/usr/bin:/bin"},
			nodeImage: {Path: filepath.Dir(program) + ":" + filepath.Dir(nodeHost) + ":/usr/bin:/bin"},
		},
	})
	if err != nil {
		return nil, errors.Join(err, c.end())
	}
	if c.git, err = sources.NewGitServer(filepath.Join(dir, "git")); err != nil {
		return nil, errors.Join(err, c.end())
	}
	return c, nil
}

// end stops everything that start has started.
func (c *cluster) end() error {
	var errs []error
	c.stop()
	if c.kubelet != nil {
		c.kubelet.Wait()
	}
	if c.manager != nil {
		errs = append(errs, c.manager.Stop())
	}
	if c.git != nil {
		errs = append(errs, c.git.Close())
	}
	return errors.Join(append(errs, c.System.Stop())...)
}

// allowed returns an error for requests of the controller that its roles do not allow.
func (c *cluster) allowed() error {
	requests, err := c.ControlPlane.Requests(system.ControllerUser)
	if err != nil {
		return err
	}
	if lacking := rights.Forbidden(requests); len(lacking) > 0 {
		return fmt.Errorf("the controller asked for what config does not allow it: %v", lacking)
	}
	return nil
}
