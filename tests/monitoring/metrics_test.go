// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package monitoring

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	fluxmetrics "github.com/fluxcd/pkg/runtime/metrics"
	"github.com/go-logr/logr"
	. "github.com/onsi/gomega"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/runtime"
	_ "sigs.k8s.io/controller-runtime/pkg/controller" // registers the metrics of controllers
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/yaml"

	"github.com/flux-pulumi/pulumi-controller/internal/metrics"
	"github.com/flux-pulumi/pulumi-controller/internal/notify"
	"github.com/flux-pulumi/pulumi-controller/internal/snapshot"
	"github.com/flux-pulumi/pulumi-controller/tests/process"
)

// repoFile reads a file of this repository.
func repoFile(t *testing.T, elements ...string) []byte {
	t.Helper()
	root, err := process.RepoRoot()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(append([]string{root}, elements...)...))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

type slots struct{}

func (slots) Count() (inFlight, waiting int) { return 0, 0 }

// served returns the metrics that the controller serves, as main registers them, with
// their labels. For a histogram these are the series that can be queried.
func served(t *testing.T) map[string][]string {
	t.Helper()
	g := NewWithT(t)
	registry := prometheus.NewRegistry()
	registry.MustRegister(fluxmetrics.NewRecorder().Collectors()...)
	_, err := metrics.NewSnapshots(registry, snapshot.New(t.TempDir(), 0))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(metrics.RegisterSandbox(registry, true)).To(Succeed())
	_, err = metrics.NewRuns(registry, slots{})
	g.Expect(err).NotTo(HaveOccurred())
	_, err = notify.New(notify.Options{Size: 1, Scheme: runtime.NewScheme(), Registerer: registry, Log: logr.Discard()})
	g.Expect(err).NotTo(HaveOccurred())
	all, ok := ctrlmetrics.Registry.(prometheus.Collector)
	g.Expect(ok).To(BeTrue(), "the registry of controller-runtime describes what it has")

	found := map[string][]string{}
	for _, collector := range []prometheus.Collector{registry, all} {
		for name, labels := range described(collector) {
			found[name] = labels
			if !strings.HasSuffix(name, "_seconds") {
				continue // not a histogram, by its name
			}
			for _, part := range []string{"_bucket", "_sum", "_count"} {
				found[name+part] = append([]string{"le"}, labels...)
			}
		}
	}
	return found
}

// described lists the metrics of a collector, including those without a value yet.
func described(collector prometheus.Collector) map[string][]string {
	form := regexp.MustCompile(`fqName: "([^"]*)".*variableLabels: \{([^}]*)\}`)
	descriptions := make(chan *prometheus.Desc)
	go func() {
		defer close(descriptions)
		collector.Describe(descriptions)
	}()
	found := map[string][]string{}
	for description := range descriptions {
		if parts := form.FindStringSubmatch(description.String()); parts != nil {
			found[parts[1]] = strings.FieldsFunc(parts[2], func(r rune) bool { return r == ',' })
		}
	}
	return found
}

// stateMetrics is the part of the config of kube-state-metrics that is used here.
type stateMetrics struct {
	Spec struct {
		Resources []struct {
			GroupVersionKind struct{ Group, Version, Kind string }
			MetricNamePrefix string
			Metrics          []struct {
				Name string
				Each struct {
					Info  struct{ LabelsFromPath map[string][]string }
					Gauge struct{ Path []string }
				}
				LabelsFromPath map[string][]string
			}
		}
	}
}

func readStateMetrics(t *testing.T) stateMetrics {
	t.Helper()
	var config stateMetrics
	if err := yaml.Unmarshal(repoFile(t, "config", "monitoring", "kube-state-metrics.yaml"), &config); err != nil {
		t.Fatal(err)
	}
	return config
}

// states returns the metrics that kube-state-metrics serves, with their labels.
func (c stateMetrics) states() map[string][]string {
	found := map[string][]string{}
	for _, resource := range c.Spec.Resources {
		for _, metric := range resource.Metrics {
			name := resource.MetricNamePrefix + "_" + metric.Name
			found[name] = append(found[name], "customresource_group", "customresource_version", "customresource_kind")
			for _, paths := range []map[string][]string{metric.Each.Info.LabelsFromPath, metric.LabelsFromPath} {
				for label := range paths {
					found[name] = append(found[name], label)
				}
			}
		}
	}
	return found
}

// known returns all metrics, with the labels that Prometheus adds.
func known(t *testing.T) map[string][]string {
	t.Helper()
	all := served(t)
	for name, labels := range readStateMetrics(t).states() {
		all[name] = labels
	}
	for name := range all {
		all[name] = append(all[name], "namespace", "exported_namespace", "pod", "job")
	}
	return all
}
