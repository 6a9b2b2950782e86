// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package kubeconfig

import (
	"encoding/json"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// maxTokenFile bounds a file that may have a token, and maxInjected how many of them are looked at.
const (
	maxTokenFile = 64 << 10
	maxInjected  = 20
)

// webToken is a token such as those of service accounts.
var webToken = regexp.MustCompile(`^[\w-]{10,}\.[\w-]{10,}\.[\w-]{10,}$`)

// InjectedTokens returns the paths of the tokens that variables of a pod name, sorted. The webhook of a
// cloud adds them, such as AWS_WEB_IDENTITY_TOKEN_FILE, AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE and
// AZURE_FEDERATED_TOKEN_FILE, or a template does. A credentials file of Google Cloud names its token.
func InjectedTokens(environ []string) []string {
	found := map[string]bool{}
	for _, variable := range environ {
		_, path, _ := strings.Cut(variable, "=")
		if !filepath.IsAbs(path) || len(found) >= maxInjected {
			continue
		}
		text := readSmall(path)
		var credentials struct {
			Source struct {
				File string `json:"file"`
			} `json:"credential_source"`
		}
		if json.Unmarshal(text, &credentials) == nil && filepath.IsAbs(credentials.Source.File) {
			path = credentials.Source.File
			text = readSmall(path)
		}
		if webToken.MatchString(strings.TrimSpace(string(text))) {
			found[path] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// readSmall returns the content of a file, and nothing of one that is not regular or too large.
func readSmall(path string) []byte {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxTokenFile {
		return nil
	}
	file, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer func() { _ = file.Close() }() // only read
	text, err := io.ReadAll(io.LimitReader(file, maxTokenFile))
	if err != nil {
		return nil
	}
	return text
}
