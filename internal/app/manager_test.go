// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"net/http"
	"net/http/httptest"
	"testing"

	runtimeclient "github.com/fluxcd/pkg/runtime/client"
	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

func TestTheClientLimitsItselfWhereTheServerDoesNot(t *testing.T) {
	for name, fair := range map[string]bool{"with Priority and Fairness": true, "without": false} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				if fair {
					w.Header().Set("X-Kubernetes-PF-FlowSchema-UID", "1")
				}
			}))
			defer server.Close()
			restConfig := &rest.Config{Host: server.URL}
			limitRate(t.Context(), restConfig, runtimeclient.Options{QPS: 50, Burst: 300})
			if fair {
				g.Expect(restConfig.QPS).To(BeNumerically("<", 0))
				return
			}
			g.Expect(restConfig.QPS).To(BeEquivalentTo(50))
			g.Expect(restConfig.Burst).To(Equal(300))
		})
	}
}

func TestAWarningOfTheAPIServerIsLoggedOnce(t *testing.T) {
	g := NewWithT(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for _, text := range []string{
			"prefer another name",
			`metadata.finalizers: \"example.com\": prefer a domain-qualified finalizer name including a path (/) to avoid accidental conflicts`,
			`metadata.finalizers: \"finalizer.stack.pulumi.com\": prefer a domain-qualified finalizer name including a path (/) to avoid accidental conflicts`,
		} {
			w.Header().Add("Warning", `299 - "`+text+`"`)
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"b"}}`))
	}))
	defer server.Close()
	restConfig, err := clusterConfig(t.Context(), Config{Cluster: func() (*rest.Config, error) { return &rest.Config{Host: server.URL}, nil }})
	g.Expect(err).NotTo(HaveOccurred())
	clients, err := kubernetes.NewForConfig(restConfig)
	g.Expect(err).NotTo(HaveOccurred())

	var lines []string
	ctx := logr.NewContext(t.Context(), funcr.New(func(_, line string) { lines = append(lines, line) }, funcr.Options{}))
	for range 3 {
		_, err := clients.CoreV1().ConfigMaps("b").Get(ctx, "a", metav1.GetOptions{})
		g.Expect(err).NotTo(HaveOccurred())
	}
	g.Expect(lines).To(ConsistOf(ContainSubstring("prefer another name"), ContainSubstring("example.com")), "that about our finalizer says nothing new")
}
