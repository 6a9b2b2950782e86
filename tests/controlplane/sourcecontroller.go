// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/flux-pulumi/pulumi-controller/tests/process"
)

// SourceControllerOptions are the options of StartSourceController.
type SourceControllerOptions struct {
	// Dir for artifacts and temporary files. Required; it must exist.
	Dir string
	// BinDir has source-controller. Empty is the bin/ of this repository.
	BinDir string
	// LogDir for the log. Empty is Dir.
	LogDir string
	// Args are flags that override those of this package.
	Args []string
}

// SourceController is a running source-controller.
type SourceController struct {
	*process.Process
	storage string
	url     string
}

// StartSourceController starts the real source-controller on a control plane that has its
// CRDs, and returns when it is ready and serves artifacts. The end of ctx stops it; stop
// it before the control plane.
func StartSourceController(ctx context.Context, c *ControlPlane, options SourceControllerOptions) (*SourceController, error) {
	if options.LogDir == "" {
		options.LogDir = options.Dir
	}
	path, err := program(options.BinDir, "source-controller")
	if err != nil {
		return nil, err
	}
	storage := filepath.Join(options.Dir, "artifacts")
	if err := os.Mkdir(storage, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
		return nil, fmt.Errorf("starting source-controller: %w", err)
	}
	ports, err := process.FreePorts(2)
	if err != nil {
		return nil, fmt.Errorf("starting source-controller: %w", err)
	}
	files, health := fmt.Sprintf("127.0.0.1:%d", ports[0]), fmt.Sprintf("127.0.0.1:%d", ports[1])
	server, err := process.Start(ctx, process.Spec{
		Name: "source-controller",
		Path: path,
		Args: append([]string{
			"--storage-path=" + storage, "--storage-addr=" + files, "--storage-adv-addr=" + files,
			"--health-addr=" + health, "--metrics-addr=0",
			"--watch-all-namespaces=true", "--enable-leader-election=false",
			"--log-level=info", "--log-encoding=json",
			// The delay before the second reconcile of a new source: 750ms by default.
			"--min-retry-delay=50ms",
		}, options.Args...),
		Env:   append(environment(options.Dir), "KUBECONFIG="+c.KubeconfigPath(), "RUNTIME_NAMESPACE=flux-system"),
		Dir:   options.Dir,
		Log:   filepath.Join(options.LogDir, "source-controller.log"),
		Grace: stopGrace,
	})
	if err != nil {
		return nil, err
	}
	s := &SourceController{Process: server, storage: storage, url: "http://" + files}
	if err := s.awaitReady(ctx, health, files); err != nil {
		return nil, errors.Join(err, server.Kill())
	}
	return s, nil
}

// awaitReady waits for the readiness probe, and for the file server, which starts on its
// own.
func (s *SourceController) awaitReady(ctx context.Context, health, files string) error {
	client := &http.Client{Timeout: 5 * time.Second}
	if err := s.Await(ctx, startTimeout, process.HTTPProbe(client, "http://"+health+"/readyz")); err != nil {
		return err
	}
	return s.Await(ctx, startTimeout, process.TCPProbe(files))
}

// StorageDir returns the directory of the artifacts, by <kind>/<namespace>/<name>, for
// tests that damage them.
func (s *SourceController) StorageDir() string { return s.storage }

// URL returns the base URL of the artifacts.
func (s *SourceController) URL() string { return s.url }
