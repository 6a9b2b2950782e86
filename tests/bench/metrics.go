// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"k8s.io/client-go/rest"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

// reconciles returns how often the Stack controller has reconciled, according to its
// metrics.
func reconciles(text []byte) (float64, error) {
	families, err := parseMetrics(text)
	if err != nil {
		return 0, err
	}
	family := families["controller_runtime_reconcile_total"]
	var sum float64
	found := false
	for _, metric := range family.GetMetric() {
		if labels(metric)["controller"] == "stack" {
			found = true
			sum += metric.GetCounter().GetValue()
		}
	}
	if !found {
		return 0, errors.New("the controller does not count its reconciles of Stacks")
	}
	return sum, nil
}

// lookedAt returns how many Stacks of the namespace the controller has reconciled,
// according to its metrics.
func lookedAt(text []byte, namespace string) (int, error) {
	families, err := parseMetrics(text)
	if err != nil {
		return 0, err
	}
	looked := 0
	for _, metric := range families["gotk_reconcile_duration_seconds"].GetMetric() {
		labels := labels(metric)
		if labels["kind"] == v1.StackKind && labels["namespace"] == namespace && metric.GetHistogram().GetSampleCount() > 0 {
			looked++
		}
	}
	return looked, nil
}

// requests counts requests by verb and resource, "PATCH stacks/status" for
// instance. They are those about what the controller reads and writes: the
// API server's own leases are left out, and so are watches, which last.
func requests(text []byte) (map[string]float64, error) {
	families, err := parseMetrics(text)
	if err != nil {
		return nil, err
	}
	family := families["apiserver_request_total"]
	if family == nil {
		return nil, errors.New("the API server does not count requests")
	}
	ofInterest := map[string]bool{"stacks": true, "programs": true, "secrets": true, "events": true}
	counts := map[string]float64{}
	for _, metric := range family.GetMetric() {
		labels := labels(metric)
		if !ofInterest[labels["resource"]] || labels["verb"] == "WATCH" {
			continue
		}
		name := labels["verb"] + " " + labels["resource"]
		if labels["subresource"] != "" {
			name += "/" + labels["subresource"]
		}
		counts[name] += metric.GetCounter().GetValue()
	}
	return counts, nil
}

// grown returns the increase of each counter that has grown.
func grown(before, after map[string]float64) map[string]float64 {
	by := map[string]float64{}
	for name, value := range after {
		if value != before[name] {
			by[name] = value - before[name]
		}
	}
	return by
}

// writes returns the number of requests that are not reads.
func writes(counts map[string]float64) float64 {
	sum := 0.0
	for name, value := range counts {
		if isWrite(name) {
			sum += value
		}
	}
	return sum
}

// unlisted returns the number of requests that are not lists, with which the caches of the
// controller begin.
func unlisted(counts map[string]float64) float64 {
	sum := 0.0
	for name, value := range counts {
		if !strings.HasPrefix(name, "LIST ") {
			sum += value
		}
	}
	return sum
}

// isWrite reports whether a name from requests is a write.
func isWrite(name string) bool {
	verb, _, _ := strings.Cut(name, " ")
	switch verb {
	case "GET", "LIST", "WATCH":
		return false
	}
	return true
}

func parseMetrics(text []byte) (map[string]*dto.MetricFamily, error) {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("reading metrics: %w", err)
	}
	return families, nil
}

func labels(metric *dto.Metric) map[string]string {
	found := map[string]string{}
	for _, pair := range metric.GetLabel() {
		found[pair.GetName()] = pair.GetValue()
	}
	return found
}

// maxMetrics bounds what is read: the API server has about 2 MB of metrics, and
// the controller 1 MB with 1,000 Stacks.
const maxMetrics = 64 << 20

// requests returns the requests to the API server, as counted by the function of this
// name.
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
