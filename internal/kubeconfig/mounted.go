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

// Mounted gives a program the rights of its pod's service account. The kubelet renews the
// token file.
type Mounted struct {
	// Config says how to reach the API server.
	Config *rest.Config
	// TokenFile is the path of the token.
	TokenFile string

	mu    sync.Mutex
	given []string
}

// Open creates the directory and writes a kubeconfig with the pod's token into it.
// Whoever created the pod has to make sure that it has the requested account.
func (m *Mounted) Open(_ context.Context, dir string, account run.ServiceAccount, _ func(line string)) (*run.ClusterAccess, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("creating the directory of the kubeconfig: %w", err)
	}
	text, err := kubeconfig(m.Config, account.Namespace, m.TokenFile)
	if err != nil {
		return nil, err
	}
	if err := replace(filepath.Join(dir, configFile), text); err != nil {
		return nil, err
	}
	return &run.ClusterAccess{Tokens: m.Tokens, Close: func() {}}, nil
}

// Tokens returns the current token and earlier ones. A program can read them even if it
// was not given them.
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
