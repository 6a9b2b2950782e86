// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
)

// RegisterSandbox registers the metric of whether local runs are in a sandbox.
func RegisterSandbox(registerer prometheus.Registerer, isOn bool) error {
	gauge := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "pulumi_sandbox_enabled",
		Help: "Whether local runs are in a sandbox: 1 if they are, 0 if not.",
	})
	if isOn {
		gauge.Set(1)
	}
	if err := registerer.Register(gauge); err != nil {
		return fmt.Errorf("failed to register the metric of the sandbox: %w", err)
	}
	return nil
}
