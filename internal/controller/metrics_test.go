// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"errors"
	"testing"

	runtimectrl "github.com/fluxcd/pkg/runtime/controller"
	fluxmetrics "github.com/fluxcd/pkg/runtime/metrics"
	. "github.com/onsi/gomega"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/metrics"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// measured gives the world the metrics of reconciles and of runs.
func (w *world) measured() *prometheus.Registry {
	w.t.Helper()
	registry := prometheus.NewPedanticRegistry()
	recorder := fluxmetrics.NewRecorder()
	registry.MustRegister(recorder.Collectors()...)
	w.Metrics = runtimectrl.Metrics{Scheme: w.Client.Scheme(), MetricsRecorder: recorder}
	runs, err := metrics.NewRuns(registry, noSlots{})
	if err != nil {
		w.t.Fatal(err)
	}
	w.Runs = runs
	return registry
}

type noSlots struct{}

func (noSlots) Count() (inFlight, waiting int) { return 0, 0 }

func (w *world) delete() {
	w.t.Helper()
	stack := &v1.Stack{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	if err := w.Delete(w.t.Context(), stack); err != nil {
		w.t.Fatal(err)
	}
}

func TestTheMetricsOfAStackGoWithIt(t *testing.T) {
	for name, prepare := range map[string]func(*world){
		"one that ran": func(w *world) {
			w.run(run.Succeeded, "", run.Changes{Created: 1})
			w.edit(func(s *v1.Stack) { s.Spec.DestroyOnFinalize = false })
		},
		"one that never ran, and has no finalizer": func(w *world) {
			w.edit(func(s *v1.Stack) { s.Spec.Suspend = true })
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			w := newWorld(t, programAndStack()...)
			registry := w.measured()
			prepare(w)
			w.mustReconcile()
			g.Expect(testutil.GatherAndCount(registry, "gotk_reconcile_duration_seconds")).To(Equal(1))
			w.delete()
			w.mustReconcile() // releases it, if it has the finalizer
			w.mustReconcile()
			g.Expect(testutil.GatherAndCount(registry, "gotk_reconcile_duration_seconds")).To(BeZero())
		})
	}
}

func TestARunIsCountedOnce(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t, programAndStack()...)
	registry := w.measured()
	w.mustReconcile()
	id := w.stack().Status.Run.ID
	w.runner.end(id, run.Succeeded, "")
	w.failWrite = func(int) error { return errors.New("connection refused") }
	_, err := w.reconcile()
	g.Expect(err).To(HaveOccurred())
	g.Expect(timesOfRuns(g, registry)).To(BeEmpty(), "its result is not written")

	w.failWrite = nil
	w.mustReconcile()
	w.mustReconcile()
	g.Expect(timesOfRuns(g, registry)).To(Equal([]float64{1}))
}

// timesOfRuns returns the seconds that runs took, by operation and outcome.
func timesOfRuns(g *WithT, registry prometheus.Gatherer) (times []float64) {
	families, err := registry.Gather()
	g.Expect(err).NotTo(HaveOccurred())
	for _, family := range families {
		if family.GetName() != "pulumi_run_duration_seconds" {
			continue
		}
		for _, metric := range family.GetMetric() {
			if histogram := metric.GetHistogram(); histogram.GetSampleCount() > 0 {
				times = append(times, histogram.GetSampleSum())
			}
		}
	}
	return times
}
