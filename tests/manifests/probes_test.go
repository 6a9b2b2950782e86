// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package manifests

import (
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// testProbes expects both probes of each controller, on the paths that the controller serves and the port of its
// default --health-addr, without thresholds and delays of their own.
func testProbes(t *testing.T, all installations) {
	g := NewWithT(t)
	probe := func(path string) *corev1.Probe {
		return &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: path, Port: intstr.FromString("healthz")}}}
	}
	for _, name := range []string{"config/default", "config/controller", "config/sharding"} {
		for _, deployment := range deploymentsIn(t, all[name]) {
			container := deployment.Spec.Template.Spec.Containers[0]
			g.Expect(container.LivenessProbe).To(Equal(probe("/healthz")), deployment.Name)
			g.Expect(container.ReadinessProbe).To(Equal(probe("/readyz")), deployment.Name)
			g.Expect(container.StartupProbe).To(BeNil(), deployment.Name)
			g.Expect(container.Ports).To(ContainElement(
				corev1.ContainerPort{Name: "healthz", ContainerPort: 9440, Protocol: corev1.ProtocolTCP}), deployment.Name)
			g.Expect(container.Args).NotTo(ContainElement(HavePrefix("--health-addr")), deployment.Name)
		}
	}
}
