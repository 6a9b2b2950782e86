// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"fmt"
	"sync"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

func TestTheProgressOfARunIsReported(t *testing.T) {
	t.Parallel()
	l := newLab(t).withProvider().withStack()
	var mu sync.Mutex
	var reported []run.Progress
	r := l.update(fmt.Sprintf(`
resources:
  prov: {type: "pulumi:providers:lab", defaultProvider: true, properties: {directory: %q}}
  a: {type: "lab:index:Thing", properties: {name: a}}
  b: {type: "lab:index:Thing", properties: {name: b, delays: {create: 2s}}, options: {dependsOn: ["${a}"]}}
`, l.cloud))
	l.reports.progress = func(progress run.Progress) {
		mu.Lock()
		defer mu.Unlock()
		reported = append(reported, progress)
	}
	result := l.do(t.Context(), r)
	l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)

	mu.Lock()
	defer mu.Unlock()
	// The provider's own entry counts as a resource, but is not an operation that takes
	// time.
	l.Expect(reported).To(ContainElement(run.Progress{Done: run.Changes{Created: 2}, InFlight: 1}), "while b is created")
	l.Expect(reported[len(reported)-1]).To(Equal(run.Progress{Done: result.Changes}), "in the end")
	l.Expect(len(reported)).To(BeNumerically("<=", 8), "only what is new is reported")
}
