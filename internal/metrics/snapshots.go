// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/flux-pulumi/pulumi-controller/internal/snapshot"
)

// Snapshots is a store of the dependencies of programs that counts how often it has them.
type Snapshots struct {
	*snapshot.Store
	used *prometheus.CounterVec
}

// NewSnapshots registers the metrics of a store.
func NewSnapshots(registerer prometheus.Registerer, store *snapshot.Store) (*Snapshots, error) {
	s := &Snapshots{Store: store, used: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "pulumi_dependency_snapshots_total",
		Help: "Number of runs that looked for a snapshot of the dependencies of their program, by what they found.",
	}, []string{"result"})}
	for _, result := range []string{"hit", "miss", "error"} {
		s.used.WithLabelValues(result)
	}
	for _, collector := range []prometheus.Collector{s.used, prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "pulumi_dependency_snapshots_bytes",
		Help: "Size of all snapshots of dependencies, of their copies that wait for the next run, and of the caches of Go.",
	}, func() float64 {
		size, err := store.Size()
		if err != nil {
			return 0 // the runs report it
		}
		return float64(size)
	})} {
		if err := registerer.Register(collector); err != nil {
			return nil, fmt.Errorf("failed to register the metrics of dependency snapshots: %w", err)
		}
	}
	return s, nil
}

// Restore counts what a run has found.
func (s *Snapshots) Restore(ctx context.Context, id snapshot.ID, root *os.Root) (bool, error) {
	found, err := s.Store.Restore(ctx, id, root)
	switch {
	case err != nil && errors.Is(err, context.Cause(ctx)):
	case err != nil:
		s.used.WithLabelValues("error").Inc()
	case found:
		s.used.WithLabelValues("hit").Inc()
	default:
		s.used.WithLabelValues("miss").Inc()
	}
	return found, err
}
