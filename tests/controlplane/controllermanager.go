// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/flux-pulumi/pulumi-controller/tests/process"
)

// ControllerManager is a running kube-controller-manager.
type ControllerManager struct {
	*process.Process
}

// StartControllerManager starts the real kube-controller-manager, as cluster admin, with
// the controllers of its flag --controllers. It does not wait until they are ready. The
// end of ctx stops it; stop it before the control plane.
func StartControllerManager(ctx context.Context, c *ControlPlane, dir, logDir string, controllers ...string) (*ControllerManager, error) {
	path, err := program("", "kube-controller-manager")
	if err != nil {
		return nil, err
	}
	port, err := process.FreePort()
	if err != nil {
		return nil, fmt.Errorf("starting kube-controller-manager: %w", err)
	}
	manager, err := process.Start(ctx, process.Spec{
		Name: "kube-controller-manager",
		Path: path,
		Args: []string{
			"--kubeconfig=" + c.KubeconfigPath(), "--controllers=" + strings.Join(controllers, ","),
			"--leader-elect=false", "--bind-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", port), "--cert-dir=" + dir,
		},
		Env:   environment(dir),
		Dir:   dir,
		Log:   filepath.Join(logDir, "kube-controller-manager.log"),
		Grace: stopGrace,
	})
	if err != nil {
		return nil, err
	}
	return &ControllerManager{Process: manager}, nil
}
