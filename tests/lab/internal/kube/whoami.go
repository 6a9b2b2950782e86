// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package kube asks a Kubernetes API server who one is, with what KUBECONFIG names. It is a client of a hundred lines, as
// client-go would be most of the provider. Resources do not belong here.
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
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

const (
	timeout   = 30 * time.Second
	maxAnswer = 1 << 20
)

// Identity is who one is.
type Identity struct {
	// Username that the API server knows one by.
	Username string
	// Token that was sent.
	Token string
}

// kubeconfig is as much of a kubeconfig as the controller writes.
type kubeconfig struct {
	Clusters []struct {
		Cluster struct {
			Server    string `yaml:"server"`
			Authority string `yaml:"certificate-authority-data"`
		} `yaml:"cluster"`
	} `yaml:"clusters"`
	Users []struct {
		User struct {
			TokenFile string `yaml:"tokenFile"`
		} `yaml:"user"`
	} `yaml:"users"`
}

// WhoAmI asks the cluster of the kubeconfig at the path.
func WhoAmI(ctx context.Context, path string) (Identity, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return Identity{}, fmt.Errorf("reading the kubeconfig: %w", err)
	}
	var config kubeconfig
	if err := yaml.Unmarshal(text, &config); err != nil {
		return Identity{}, fmt.Errorf("reading the kubeconfig: %w", err)
	}
	if len(config.Clusters) != 1 || len(config.Users) != 1 {
		return Identity{}, errors.New("the kubeconfig does not have one cluster and one user")
	}
	token, err := os.ReadFile(config.Users[0].User.TokenFile)
	if err != nil {
		return Identity{}, fmt.Errorf("reading the token: %w", err)
	}
	cluster := config.Clusters[0].Cluster
	client, err := clientOf(cluster.Authority)
	if err != nil {
		return Identity{}, err
	}
	username, err := review(ctx, client, cluster.Server, strings.TrimSpace(string(token)))
	return Identity{Username: username, Token: strings.TrimSpace(string(token))}, err
}

// clientOf is a client that trusts the authority alone.
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

// review has the API server say who the bearer of the token is.
func review(ctx context.Context, client *http.Client, server, token string) (string, error) {
	const group = "authentication.k8s.io/v1"
	question := fmt.Appendf(nil, `{"apiVersion":%q,"kind":"SelfSubjectReview"}`, group)
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, server+"/apis/"+group+"/selfsubjectreviews", bytes.NewReader(question))
	if err != nil {
		return "", fmt.Errorf("asking the API server: %w", err)
	}
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Content-Type", "application/json")
	response, err := client.Do(request)
	if err != nil {
		return "", fmt.Errorf("asking the API server: %w", err)
	}
	defer func() { _ = response.Body.Close() }() // it is only read
	body, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return "", fmt.Errorf("asking the API server: %w", err)
	}
	if response.StatusCode != http.StatusCreated {
		return "", fmt.Errorf("the API server answers %s: %s", response.Status, body)
	}
	var answer struct {
		Status struct {
			UserInfo struct {
				Username string `json:"username"`
			} `json:"userInfo"`
		} `json:"status"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return "", fmt.Errorf("reading the answer of the API server: %w", err)
	}
	return answer.Status.UserInfo.Username, nil
}
