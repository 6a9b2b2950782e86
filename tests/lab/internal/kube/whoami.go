// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
)

// Identity is who the caller is.
type Identity struct {
	// Username according to the API server.
	Username string
	// Token that was sent.
	Token string
}

// WhoAmI asks the cluster of the kubeconfig at the path.
func WhoAmI(ctx context.Context, path string) (Identity, error) {
	cluster, err := Open(path)
	if err != nil {
		return Identity{}, err
	}
	username, err := cluster.review(ctx)
	return Identity{Username: username, Token: cluster.token}, err
}

// review asks the API server for the bearer of the token.
func (c *Cluster) review(ctx context.Context) (string, error) {
	const group = "authentication.k8s.io/v1"
	question := fmt.Appendf(nil, `{"apiVersion":%q,"kind":"SelfSubjectReview"}`, group)
	status, body, err := c.do(ctx, http.MethodPost, "/apis/"+group+"/selfsubjectreviews", "application/json", question)
	if err != nil {
		return "", err
	}
	if status != http.StatusCreated {
		return "", refused(status, body)
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
