// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package kubeconfig

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"k8s.io/client-go/rest"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// Mounted gives a program the rights of the account of the pod that it is in. The
// kubelet renews the token, in a file.
type Mounted struct {
	// Config is how the API server is reached.
	Config *rest.Config
	// TokenFile has the token.
	TokenFile string

	mu    sync.Mutex
	given []string
}

// Open writes a kubeconfig with the token of the pod into the directory, which it
// makes. That the pod has the account that is asked for is for who has made it.
func (m *Mounted) Open(_ context.Context, dir string, account run.ServiceAccount, _ func(line string)) (*run.ClusterAccess, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("making the directory of the kubeconfig: %w", err)
	}
	text, err := kubeconfig(m.Config, account.Namespace, m.TokenFile)
	if err != nil {
		return nil, err
	}
	if err := replace(filepath.Join(dir, configFile), text); err != nil {
		return nil, err
	}
	return &run.ClusterAccess{Kubeconfig: filepath.Join(dir, configFile), Tokens: m.Tokens, Close: func() {}}, nil
}

// Tokens are the token as it is now, and those that were there before. A program can
// read them whether it was given them or not.
func (m *Mounted) Tokens() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	text, err := os.ReadFile(m.TokenFile)
	token := strings.TrimSpace(string(text))
	if err == nil && token != "" && !slices.Contains(m.given, token) {
		m.given = append(m.given, token)
		if extra := len(m.given) - maxGiven; extra > 0 {
			m.given = slices.Delete(m.given, 0, extra)
		}
	}
	return slices.Clone(m.given)
}
