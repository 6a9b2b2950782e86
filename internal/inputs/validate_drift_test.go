// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package inputs

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

func TestValidateDrift(t *testing.T) {
	hour := &metav1.Duration{Duration: time.Hour}
	for name, test := range map[string]struct {
		drift *v1.Drift
		want  string
	}{
		"none":                {nil, ""},
		"a schedule":          {&v1.Drift{Schedule: "30 2 * * *", TimeZone: "Europe/Berlin"}, ""},
		"an interval":         {&v1.Drift{Interval: hour, Mode: v1.DriftCorrect}, ""},
		"neither":             {&v1.Drift{}, "spec.drift: exactly one of schedule and interval is required"},
		"both":                {&v1.Drift{Schedule: "@daily", Interval: hour}, "spec.drift: exactly one of schedule and interval is required"},
		"a zone alone":        {&v1.Drift{Interval: hour, TimeZone: "UTC"}, "spec.drift.timeZone: belongs to schedule: remove it, or use schedule in place of interval"},
		"an unknown zone":     {&v1.Drift{Schedule: "@daily", TimeZone: "Europe/Nowhere"}, `spec.drift.timeZone: "Europe/Nowhere" is not the name of a time zone, which is for example Europe/Berlin`},
		"a day that is never": {&v1.Drift{Schedule: "0 0 30 2 *"}, `spec.drift.schedule: "0 0 30 2 *" never occurs`},
		"an unknown mode":     {&v1.Drift{Interval: hour, Mode: "Fix"}, `spec.drift.mode: is "Fix", but must be Report, Propose or Correct`},
		"no path": {&v1.Drift{Interval: hour, Ignore: []v1.IgnoredDrift{{Type: "a", Paths: []string{"a["}}}},
			`spec.drift.ignore[0].paths[0]: "a[" is not the path of a property: a bracket is not closed`},
	} {
		t.Run(name, func(t *testing.T) {
			err := validateDrift(v1.StackSpec{Drift: test.drift})
			if test.want == "" {
				NewWithT(t).Expect(err).NotTo(HaveOccurred())
				return
			}
			NewWithT(t).Expect(err).To(And(MatchError(test.want), BeAssignableToTypeOf(&InvalidError{})))
		})
	}
}
