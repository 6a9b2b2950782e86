// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package holder

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

func TestARecoveryGetsWhereAndWhenTheRunWas(t *testing.T) {
	here := v1.RunHolder{Host: "pod-1", Instance: "boot/7/100/ns/1:2"}
	from := metav1.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	to := metav1.Time{Time: from.Add(time.Minute)}
	for name, test := range map[string]struct {
		host, instance string
		want           run.Place
	}{
		"this process":           {"pod-1", here.Instance, run.Here},
		"the one before it":      {"pod-1", "boot/6/90/ns/1:1", run.Here},
		"another container":      {"pod-1", "boot/7/90/other/1:2", run.Elsewhere},
		"an earlier boot":        {"pod-1", "earlier/7/100/ns/1:2", run.BeforeBoot},
		"another host":           {"pod-2", "boot/7/100/ns/1:2", run.Elsewhere},
		"an instance not known":  {"pod-1", "", run.Elsewhere},
		"an instance not parsed": {"pod-1", "boot/7", run.Elsewhere},
	} {
		g := NewWithT(t)
		recorded := []v1.InterruptedRun{{ID: "run-1", Host: test.host, Instance: test.instance, StartedAt: &from, EndedAt: &to}}
		g.Expect(Interrupted(recorded, here)).To(Equal([]run.Interrupted{
			{ID: "run-1", Host: test.host, Place: test.want, From: from.Time, To: to.Add(time.Second)},
		}), name)
	}
}
