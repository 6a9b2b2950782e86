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

	"k8s.io/client-go/rest"

	"github.com/flux-pulumi/pulumi-controller/tests/process"
)

// NotificationControllerOptions says how notification-controller is started.
type NotificationControllerOptions struct {
	// Dir is where its kubeconfig and temporary files are kept. Required; it must exist.
	Dir string
	// BinDir has notification-controller. Empty means the bin/ of this repository.
	BinDir string
	// LogDir is where the log goes. Empty means Dir.
	LogDir string
	// User is whom it acts as. Empty means somebody who may do everything.
	User string
	// Args are flags added after, and so winning over, those that this package sets.
	Args []string
}

// NotificationController is a running notification-controller.
type NotificationController struct {
	*process.Process
	events, receivers string
}

// StartNotificationController starts the real notification-controller on a control plane that has its CRDs, see
// BuildNotifications, and returns when it is ready and takes events and webhooks. The end of ctx stops it; stop it before
// the control plane.
func StartNotificationController(ctx context.Context, c *ControlPlane, options NotificationControllerOptions) (*NotificationController, error) {
	if options.LogDir == "" {
		options.LogDir = options.Dir
	}
	path, err := program(options.BinDir, "notification-controller")
	if err != nil {
		return nil, err
	}
	kubeconfig := filepath.Join(options.Dir, "kubeconfig")
	config := c.RESTConfig()
	config.Impersonate = rest.ImpersonationConfig{UserName: options.User}
	if err := WriteKubeconfig(kubeconfig, config); err != nil {
		return nil, err
	}
	ports, err := process.FreePorts(3)
	if err != nil {
		return nil, fmt.Errorf("starting notification-controller: %w", err)
	}
	events, receivers := fmt.Sprintf("127.0.0.1:%d", ports[0]), fmt.Sprintf("127.0.0.1:%d", ports[1])
	health := fmt.Sprintf("127.0.0.1:%d", ports[2])
	server, err := process.Start(ctx, process.Spec{
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
	})
	if err != nil {
		return nil, err
	}
	n := &NotificationController{Process: server, events: events, receivers: receivers}
	if err := n.awaitReady(ctx, health); err != nil {
		return nil, errors.Join(err, server.Kill())
	}
	return n, nil
}

// awaitReady waits for the probe that a kubelet would use, and for the two servers, which start on their own.
func (n *NotificationController) awaitReady(ctx context.Context, health string) error {
	client := &http.Client{Timeout: 5 * time.Second}
	for _, probe := range []func(context.Context) error{
		process.HTTPProbe(client, "http://"+health+"/readyz"), process.TCPProbe(n.events), process.TCPProbe(n.receivers),
	} {
		if err := n.Await(ctx, startTimeout, probe); err != nil {
			return err
		}
	}
	return nil
}

// EventsURL is where events are sent to.
func (n *NotificationController) EventsURL() string { return "http://" + n.events }

// ReceiversURL is what the webhook paths of Receivers are under.
func (n *NotificationController) ReceiversURL() string { return "http://" + n.receivers }
