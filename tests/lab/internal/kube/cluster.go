// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package kube is a client of the Kubernetes API server of a kubeconfig. It has two hundred
// lines, whereas client-go would be most of the providers. What the objects mean does not
// belong here.
package kube

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

const (
	timeout   = 30 * time.Second
	maxAnswer = 1 << 20
	// fieldManager owns the applied fields.
	fieldManager = "pulumi-stand-in"
)

// Cluster is an API server, and the credentials for it.
type Cluster struct {
	// Namespace of objects that name none.
	Namespace     string
	server, token string
	client        *http.Client
}

// kubeconfig has the fields of a kubeconfig that the controller and the tests write.
type kubeconfig struct {
	Clusters []struct {
		Cluster struct {
			Server    string `yaml:"server"`
			Authority string `yaml:"certificate-authority-data"`
		} `yaml:"cluster"`
	} `yaml:"clusters"`
	Contexts []struct {
		Context struct {
			Namespace string `yaml:"namespace"`
		} `yaml:"context"`
	} `yaml:"contexts"`
	Users []struct {
		User struct {
			Token     string `yaml:"token"`
			TokenFile string `yaml:"tokenFile"`
		} `yaml:"user"`
	} `yaml:"users"`
}

// Config returns the path of the kubeconfig where all clients of Kubernetes look: the one
// of KUBECONFIG, or the one in the home directory, if it exists.
func Config() (path string, found bool) {
	if path := os.Getenv("KUBECONFIG"); path != "" {
		return path, true
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", false
	}
	path = filepath.Join(home, ".kube", "config")
	_, err = os.Stat(path)
	return path, err == nil
}

// Open reads the kubeconfig at the path.
func Open(path string) (*Cluster, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the kubeconfig: %w", err)
	}
	var config kubeconfig
	if err := yaml.Unmarshal(text, &config); err != nil {
		return nil, fmt.Errorf("reading the kubeconfig: %w", err)
	}
	if len(config.Clusters) != 1 || len(config.Users) != 1 || len(config.Contexts) > 1 {
		return nil, errors.New("the kubeconfig does not have one cluster and one user")
	}
	token := []byte(config.Users[0].User.Token)
	if file := config.Users[0].User.TokenFile; file != "" {
		if token, err = os.ReadFile(file); err != nil {
			return nil, fmt.Errorf("reading the token: %w", err)
		}
	}
	client, err := clientOf(config.Clusters[0].Cluster.Authority)
	if err != nil {
		return nil, err
	}
	cluster := &Cluster{
		Namespace: "default",
		server:    config.Clusters[0].Cluster.Server,
		token:     strings.TrimSpace(string(token)),
		client:    client,
	}
	for _, c := range config.Contexts {
		if c.Context.Namespace != "" {
			cluster.Namespace = c.Context.Namespace
		}
	}
	return cluster, nil
}

// clientOf returns a client that trusts only the authority.
func clientOf(authority string) (*http.Client, error) {
	pem, err := base64.StdEncoding.DecodeString(authority)
	if err != nil {
		return nil, fmt.Errorf("reading the authority: %w", err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) {
		return nil, errors.New("the kubeconfig has no authority")
	}
	return &http.Client{Timeout: timeout, Transport: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}, DisableKeepAlives: true,
	}}, nil
}

// Apply creates or changes the object at the path.
func (c *Cluster) Apply(ctx context.Context, path string, object map[string]any) error {
	text, err := json.Marshal(object)
	if err != nil {
		return fmt.Errorf("applying %s: %w", path, err)
	}
	status, body, err := c.do(ctx, http.MethodPatch, path+"?fieldManager="+fieldManager, "application/apply-patch+yaml", text)
	if err == nil && status != http.StatusOK && status != http.StatusCreated {
		err = refused(status, body)
	}
	if err != nil {
		return fmt.Errorf("applying %s: %w", path, err)
	}
	return nil
}

// Exists reports whether there is an object at the path.
func (c *Cluster) Exists(ctx context.Context, path string) (bool, error) {
	status, body, err := c.do(ctx, http.MethodGet, path, "", nil)
	if err == nil && status != http.StatusOK && status != http.StatusNotFound {
		err = refused(status, body)
	}
	if err != nil {
		return false, fmt.Errorf("reading %s: %w", path, err)
	}
	return status == http.StatusOK, nil
}

// Delete removes the object at the path. It succeeds if the object is already gone.
func (c *Cluster) Delete(ctx context.Context, path string) error {
	status, body, err := c.do(ctx, http.MethodDelete, path, "", nil)
	if err == nil && status != http.StatusOK && status != http.StatusAccepted && status != http.StatusNotFound {
		err = refused(status, body)
	}
	if err != nil {
		return fmt.Errorf("deleting %s: %w", path, err)
	}
	return nil
}

func (c *Cluster) do(ctx context.Context, method, path, contentType string, text []byte) (status int, body []byte, err error) {
	request, err := http.NewRequestWithContext(ctx, method, c.server+path, bytes.NewReader(text))
	if err != nil {
		return 0, nil, fmt.Errorf("asking the API server: %w", err)
	}
	request.Header.Set("Authorization", "Bearer "+c.token)
	if contentType != "" {
		request.Header.Set("Content-Type", contentType)
	}
	response, err := c.client.Do(request)
	if err != nil {
		return 0, nil, fmt.Errorf("asking the API server: %w", err)
	}
	defer func() { _ = response.Body.Close() }() // read only
	if body, err = io.ReadAll(io.LimitReader(response.Body, maxAnswer)); err != nil {
		return 0, nil, fmt.Errorf("asking the API server: %w", err)
	}
	return response.StatusCode, body, nil
}

func refused(status int, body []byte) error {
	return fmt.Errorf("the API server answers %d %s: %s", status, http.StatusText(status), body)
}
