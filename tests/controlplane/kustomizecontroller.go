// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"time"

	"github.com/flux-pulumi/pulumi-controller/tests/process"
)

// KustomizeControllerOptions are the options of StartKustomizeController.
type KustomizeControllerOptions struct {
	// Dir for temporary files. Required; it must exist.
	Dir string
	// BinDir has kustomize-controller. Empty is the bin/ of this repository.
	BinDir string
	// LogDir for the log. Empty is Dir.
	LogDir string
	// EventsURL receives its events. Empty is none.
	EventsURL string
	// Args are flags that override those of this package.
	Args []string
}

// KustomizeController is a running kustomize-controller.
type KustomizeController struct {
	*process.Process
}

// StartKustomizeController starts the real kustomize-controller on a control plane that
// has its CRDs and those of source-controller, and returns when it is ready. It runs as
// cluster admin, as in Flux. The end of ctx stops it; stop it before the control plane.
func StartKustomizeController(ctx context.Context, c *ControlPlane, options KustomizeControllerOptions) (*KustomizeController, error) {
	if options.LogDir == "" {
		options.LogDir = options.Dir
	}
	path, err := program(options.BinDir, "kustomize-controller")
	if err != nil {
		return nil, err
	}
	port, err := process.FreePort()
	if err != nil {
		return nil, fmt.Errorf("starting kustomize-controller: %w", err)
	}
	health := fmt.Sprintf("127.0.0.1:%d", port)
	server, err := process.Start(ctx, process.Spec{
		Name: "kustomize-controller",
		Path: path,
		Args: append([]string{
			"--events-addr=" + options.EventsURL, "--health-addr=" + health, "--metrics-addr=0",
			"--watch-all-namespaces=true", "--enable-leader-election=false",
			"--log-level=info", "--log-encoding=json",
			// The interval at which it checks sources and dependencies: 30s by default.
			"--requeue-dependency=500ms",
		}, options.Args...),
		Env:   append(environment(options.Dir), "KUBECONFIG="+c.KubeconfigPath(), "RUNTIME_NAMESPACE=flux-system"),
		Dir:   options.Dir,
		Log:   filepath.Join(options.LogDir, "kustomize-controller.log"),
		Grace: stopGrace,
	})
	if err != nil {
		return nil, err
	}
	probe := process.HTTPProbe(&http.Client{Timeout: 5 * time.Second}, "http://"+health+"/readyz")
	if err := server.Await(ctx, startTimeout, probe); err != nil {
		return nil, errors.Join(err, server.Kill())
	}
	return &KustomizeController{Process: server}, nil
}
