// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package caller

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// longestAnswer bounds what is read of an answer.
const longestAnswer = 16 << 10

// get returns the text at an address that takes a bearer token.
func get(ctx context.Context, url, token string) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return "", err
	}
	request.Header.Set("Authorization", "Bearer "+token)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(response.Body, longestAnswer))
	if err != nil {
		return "", err
	}
	if response.StatusCode != http.StatusOK {
		return "", fmt.Errorf("%s answered %s: %s", url, response.Status, strings.TrimSpace(string(text)))
	}
	return strings.TrimSpace(string(text)), nil
}
