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

	"github.com/flux-pulumi/pulumi-controller/internal/identity"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// Mounted gives a program the rights of its pod's service account. The kubelet renews the
// token file.
type Mounted struct {
	// Config says how to reach the API server.
	Config *rest.Config
	// TokenFile is the path of the token.
	TokenFile string
	// IdentityDir has the tokens for clouds, which the kubelet renews, too. Empty is none.
	IdentityDir string
	// Injected are the paths of tokens that others have added to the pod.
	Injected []string

	mu sync.Mutex
	// given are the tokens that were seen, by the path of their file.
	given map[string][]string
}

// Open creates the directory and writes a kubeconfig with the pod's token into it.
// Whoever created the pod has to make sure that it has the requested account.
func (m *Mounted) Open(_ context.Context, dir string, account run.ServiceAccount, _ func(line string)) (*run.ClusterAccess, error) {
	text, err := kubeconfig(m.Config, account.Namespace, m.TokenFile)
	if err != nil {
		return nil, err
	}
	files, err := openFolder(dir)
	if err != nil {
		return nil, err
	}
	defer files.close()
	if err := files.replace(configFile, text); err != nil {
		return nil, err
	}
	return &run.ClusterAccess{Tokens: m.Tokens, Close: func() {}}, nil
}

// OpenTokens checks that the tokens are there. Whoever created the pod has mounted them.
func (m *Mounted) OpenTokens(
	_ context.Context, _ string, account run.ServiceAccount, tokens []identity.Token, _ func(line string),
) (*run.CloudAccess, error) {
	var paths []string
	for _, token := range tokens {
		path := filepath.Join(m.IdentityDir, token.File)
		if text, err := os.ReadFile(path); m.IdentityDir == "" || err != nil || len(text) == 0 {
			return nil, fmt.Errorf("the pod of the run has no token of service account '%s' for audience %s: "+
				"the pod was changed after the controller had created it", account, token.Audience)
		}
		paths = append(paths, path)
	}
	return &run.CloudAccess{Dir: m.IdentityDir, Tokens: func() []string { return m.seen(paths...) }, Close: func() {}}, nil
}

// Tokens returns the current token and earlier ones. A program can read them even if it
// was not given them.
func (m *Mounted) Tokens() []string {
	return m.seen(slices.Concat([]string{m.TokenFile}, m.Injected)...)
}

// seen returns the tokens in the files now, and those that were there earlier.
func (m *Mounted) seen(paths ...string) []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.given == nil {
		m.given = map[string][]string{}
	}
	var all []string
	for _, path := range paths {
		text, err := os.ReadFile(path)
		token, given := strings.TrimSpace(string(text)), m.given[path]
		if err == nil && token != "" && !slices.Contains(given, token) {
			given = append(given, token)
			if extra := len(given) - maxGiven; extra > 0 {
				given = slices.Delete(given, 0, extra)
			}
			m.given[path] = given
		}
		all = append(all, given...)
	}
	return all
}
