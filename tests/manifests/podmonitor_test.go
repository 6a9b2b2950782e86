// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package manifests

import (
	"testing"

	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/yaml"
)

// podMonitor has the fields of the Prometheus operator's kind that are used here, named as in its API.
type podMonitor struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		Selector            metav1.LabelSelector `json:"selector"`
		PodMetricsEndpoints []struct {
			Port        string `json:"port"`
			Relabelings []struct {
				SourceLabels []string `json:"sourceLabels"`
				Action       string   `json:"action"`
				Regex        string   `json:"regex"`
			} `json:"relabelings"`
		} `json:"podMetricsEndpoints"`
	} `json:"spec"`
}

// testPodMonitor expects it to select the pods of the controller and of its shards, and the port of their metrics.
func testPodMonitor(t *testing.T, all installations) {
	g := NewWithT(t)
	var monitor podMonitor
	for _, object := range all["config/monitoring"] {
		if object.GetKind() == "PodMonitor" {
			text, err := yaml.Marshal(object)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(yaml.UnmarshalStrict(text, &monitor)).To(Succeed())
		}
	}
	g.Expect(monitor.APIVersion).To(Equal("monitoring.coreos.com/v1"))
	selector, err := metav1.LabelSelectorAsSelector(&monitor.Spec.Selector)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(selector.Empty()).To(BeFalse())
	g.Expect(monitor.Spec.PodMetricsEndpoints).To(HaveLen(1))
	for _, name := range []string{"config/default", "config/sharding"} {
		for _, deployment := range deploymentsIn(t, all[name]) {
			template := deployment.Spec.Template
			g.Expect(deployment.Namespace).To(Equal(monitor.Namespace))
			g.Expect(selector.Matches(labels.Set(template.Labels))).To(BeTrue(), deployment.Name)
			ports := map[string]int32{}
			for _, port := range template.Spec.Containers[0].Ports {
				ports[port.Name] = port.ContainerPort
			}
			// Flux's NetworkPolicy admits Prometheus at this port only.
			g.Expect(ports).To(HaveKeyWithValue(monitor.Spec.PodMetricsEndpoints[0].Port, int32(8080)), deployment.Name)
		}
	}
}

func deploymentsIn(t *testing.T, objects []*unstructured.Unstructured) (deployments []*appsv1.Deployment) {
	t.Helper()
	for _, object := range objects {
		if object.GetKind() == "Deployment" {
			deployments = append(deployments, deploymentOf(t, object))
		}
	}
	NewWithT(t).Expect(deployments).NotTo(BeEmpty())
	return deployments
}
