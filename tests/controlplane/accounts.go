// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"fmt"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
)

// tokenLife is longer than any test.
const tokenLife = 24 * time.Hour

// AccountConfig returns the client configuration of a service account, with a token as in
// a pod.
func (c *ControlPlane) AccountConfig(ctx context.Context, namespace, name string) (*rest.Config, error) {
	clients, err := kubernetes.NewForConfig(c.RESTConfig())
	if err != nil {
		return nil, err
	}
	request := &authenticationv1.TokenRequest{
		Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: ptr.To(int64(tokenLife / time.Second))},
	}
	answer, err := clients.CoreV1().ServiceAccounts(namespace).CreateToken(ctx, name, request, metav1.CreateOptions{})
	if err != nil {
		return nil, fmt.Errorf("asking for a token of %s/%s: %w", namespace, name, err)
	}
	config := c.RESTConfig()
	config.BearerToken = answer.Status.Token
	return config, nil
}

// WriteAccountKubeconfig writes the configuration of AccountConfig to a file.
func (c *ControlPlane) WriteAccountKubeconfig(ctx context.Context, path, namespace, name string) error {
	config, err := c.AccountConfig(ctx, namespace, name)
	if err != nil {
		return err
	}
	return WriteKubeconfig(path, config)
}
