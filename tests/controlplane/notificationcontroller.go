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

	"k8s.io/apimachinery/pkg/types"

	"github.com/flux-pulumi/pulumi-controller/tests/process"
)

// NotificationControllerOptions are the options of StartNotificationController.
type NotificationControllerOptions struct {
	// Dir for its kubeconfig and temporary files. Required; it must exist.
	Dir string
	// BinDir has notification-controller. Empty is the bin/ of this repository.
	BinDir string
	// LogDir for the log. Empty is Dir.
	LogDir string
	// Account that it runs as, which must exist. None is a cluster admin.
	Account types.NamespacedName
	// Args are flags that override those of this package.
	Args []string
}

// NotificationController is a running notification-controller.
type NotificationController struct {
	*process.Process
	spec                      process.Spec
	events, receivers, health string
}

// StartNotificationController starts the real notification-controller on a control plane
// that has its CRDs, see BuildNotifications. It returns when it is ready and accepts
// events and webhooks. The end of ctx stops it; stop it before the control plane.
func StartNotificationController(ctx context.Context, c *ControlPlane, options NotificationControllerOptions) (*NotificationController, error) {
	if options.LogDir == "" {
		options.LogDir = options.Dir
	}
	path, err := program(options.BinDir, "notification-controller")
	if err != nil {
		return nil, err
	}
	kubeconfig := filepath.Join(options.Dir, "kubeconfig")
	if err := c.writeNotificationKubeconfig(ctx, kubeconfig, options.Account); err != nil {
		return nil, err
	}
	ports, err := process.FreePorts(3)
	if err != nil {
		return nil, fmt.Errorf("starting notification-controller: %w", err)
	}
	events, receivers := fmt.Sprintf("127.0.0.1:%d", ports[0]), fmt.Sprintf("127.0.0.1:%d", ports[1])
	health := fmt.Sprintf("127.0.0.1:%d", ports[2])
	n := &NotificationController{events: events, receivers: receivers, health: health, spec: process.Spec{
		Name: "notification-controller",
		Path: path,
		Args: append([]string{
			"--events-addr=" + events, "--receiverAddr=" + receivers,
			"--health-addr=" + health, "--metrics-addr=0",
			"--watch-all-namespaces=true", "--enable-leader-election=false",
			"--log-level=info", "--log-encoding=json",
		}, options.Args...),
		Env:   append(environment(options.Dir), "KUBECONFIG="+kubeconfig, "RUNTIME_NAMESPACE=flux-system"),
		Dir:   options.Dir,
		Log:   filepath.Join(options.LogDir, "notification-controller.log"),
		Grace: stopGrace,
	}}
	if err := n.Restart(ctx); err != nil {
		return nil, err
	}
	return n, nil
}

// Restart starts it again after its end, at the same addresses.
func (n *NotificationController) Restart(ctx context.Context) (err error) {
	if n.Process, err = process.Start(ctx, n.spec); err != nil {
		return err
	}
	if err := n.awaitReady(ctx); err != nil {
		return errors.Join(err, n.Kill())
	}
	return nil
}

func (c *ControlPlane) writeNotificationKubeconfig(ctx context.Context, path string, account types.NamespacedName) error {
	if account.Name == "" {
		return WriteKubeconfig(path, c.RESTConfig())
	}
	return c.WriteAccountKubeconfig(ctx, path, account.Namespace, account.Name)
}

// awaitReady waits for the readiness probe, and for the two servers, which start on their
// own.
func (n *NotificationController) awaitReady(ctx context.Context) error {
	client := &http.Client{Timeout: 5 * time.Second}
	for _, probe := range []func(context.Context) error{
		process.HTTPProbe(client, "http://"+n.health+"/readyz"), process.TCPProbe(n.events), process.TCPProbe(n.receivers),
	} {
		if err := n.Await(ctx, startTimeout, probe); err != nil {
			return err
		}
	}
	return nil
}

// EventsURL is the URL that receives events.
func (n *NotificationController) EventsURL() string { return "http://" + n.events }

// ReceiversURL is the base URL of the webhook paths of Receivers.
func (n *NotificationController) ReceiversURL() string { return "http://" + n.receivers }
