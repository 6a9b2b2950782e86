// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/flux-pulumi/pulumi-controller/tests/cluster/node"
)

// awaitReady waits until the node is ready and pods can be created.
func (c *Cluster) awaitReady(ctx context.Context, config *rest.Config, ended <-chan error) error {
	config = rest.CopyConfig(config)
	config.Timeout = 5 * time.Second
	clients, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case err := <-ended:
			cancel(fmt.Errorf("the node has ended: %w", err))
		case <-ctx.Done():
		}
	}()
	err = poll(ctx, func() error {
		found, err := clients.CoreV1().Nodes().Get(ctx, node.NodeName, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if err := ready(found); err != nil {
			return err
		}
		// Pods are refused until their service account exists.
		_, err = clients.CoreV1().ServiceAccounts(metav1.NamespaceDefault).Get(ctx, "default", metav1.GetOptions{})
		return err
	})
	if cause := context.Cause(ctx); err != nil && cause != nil {
		return fmt.Errorf("waiting for the node: %w: %w", err, cause)
	}
	return err
}

func ready(found *corev1.Node) error {
	for _, condition := range found.Status.Conditions {
		if condition.Type == corev1.NodeReady && condition.Status == corev1.ConditionTrue {
			return nil
		} else if condition.Type == corev1.NodeReady {
			return fmt.Errorf("the node is not ready: %s", condition.Message)
		}
	}
	return fmt.Errorf("the node has not said whether it is ready")
}
