// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"net/http"

	"k8s.io/client-go/rest"
)

// maxMetrics bounds what is read: the API server has about 2 MB of metrics, and
// the controller 1 MB with 1,000 Stacks.
const maxMetrics = 64 << 20

// requests counts what the API server was asked, see the function of this name.
func (s *controllerSide) requests(ctx context.Context) (map[string]float64, error) {
	config := s.system.ControlPlane.RESTConfig()
	api, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("making a client of the API server: %w", err)
	}
	text, err := scrape(ctx, api, config.Host+"/metrics")
	if err != nil {
		return nil, err
	}
	return requests(text)
}

// scrape reads the metrics that are served at the URL.
func scrape(ctx context.Context, client *http.Client, url string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, fmt.Errorf("reading metrics: %w", err)
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, fmt.Errorf("reading metrics: %w", err)
	}
	defer func() { _ = response.Body.Close() }() // it is only read
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("reading metrics: %s answered %s", url, response.Status)
	}
	text, err := io.ReadAll(io.LimitReader(response.Body, maxMetrics))
	if err != nil {
		return nil, fmt.Errorf("reading metrics: %w", err)
	}
	return text, nil
}
