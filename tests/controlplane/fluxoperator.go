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

// FluxOperatorOptions are the options of StartFluxOperator.
type FluxOperatorOptions struct {
	// Dir for temporary files and the log. Required; it must exist.
	Dir string
	// BinDir has flux-operator. Empty is the bin/ of this repository.
	BinDir string
}

// FluxOperator is a running flux-operator.
type FluxOperator struct {
	*process.Process
}

// StartFluxOperator starts the real flux-operator on a control plane with the namespace
// flux-system, after it has installed its CRDs there, and returns when it is ready. It
// runs as cluster admin, as its chart installs it, and acts for the accounts of its
// objects. The end of ctx stops it; stop it before the control plane.
func StartFluxOperator(ctx context.Context, c *ControlPlane, options FluxOperatorOptions) (*FluxOperator, error) {
	crds, err := process.FindBin(filepath.Join("crds", "flux-operator"))
	if err != nil {
		return nil, err
	}
	if err := c.installCRDs([]string{crds}); err != nil {
		return nil, err
	}
	path, err := program(options.BinDir, "flux-operator")
	if err != nil {
		return nil, err
	}
	port, err := process.FreePort()
	if err != nil {
		return nil, fmt.Errorf("starting flux-operator: %w", err)
	}
	health := fmt.Sprintf("127.0.0.1:%d", port)
	server, err := process.Start(ctx, process.Spec{
		Name: "flux-operator",
		Path: path,
		Args: []string{
			"--health-addr=" + health, "--metrics-addr=0", "--web-server-port=0",
			"--enable-leader-election=false", "--requeue-dependency=500ms",
			"--log-level=info", "--log-encoding=json",
		},
		Env: append(environment(options.Dir), "KUBECONFIG="+c.KubeconfigPath(), "RUNTIME_NAMESPACE=flux-system",
			// It refuses to start otherwise.
			"GODEBUG=fips140=on",
			// Events, which nothing here reads.
			"NOTIFICATIONS_DISABLED=1"),
		Dir:   options.Dir,
		Log:   filepath.Join(options.Dir, "flux-operator.log"),
		Grace: stopGrace,
	})
	if err != nil {
		return nil, err
	}
	probe := process.HTTPProbe(&http.Client{Timeout: 5 * time.Second}, "http://"+health+"/readyz")
	if err := server.Await(ctx, startTimeout, probe); err != nil {
		return nil, errors.Join(err, server.Kill())
	}
	return &FluxOperator{Process: server}, nil
}
