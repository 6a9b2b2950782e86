// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package lockdown

import (
	"testing"

	. "github.com/onsi/gomega"
)

func TestALockdownOfLocalRunsIsWarnedOf(t *testing.T) {
	for name, test := range map[string]struct {
		args   []string
		warned bool
	}{
		"the defaults":                  {nil, false},
		"an account, and local runs":    {[]string{"--log-level", "info", "--enable-leader-election", "--default-service-account=default"}, true},
		"in two arguments":              {[]string{"--default-service-account", "default", "--runner", "local"}, true},
		"an account, and Jobs":          {[]string{"--default-service-account=default", "--runner=job"}, false},
		"local runs after Jobs":         {[]string{"--runner=job", "--default-service-account=default", "--runner=local"}, true},
		"an account that is taken back": {[]string{"--default-service-account=default", "--default-service-account="}, false},
		"of one namespace":              {[]string{"--default-service-account=default", "--watch-all-namespaces=false"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			flags, err := Parse(test.args)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(flags.Warning() != "").To(Equal(test.warned))
		})
	}
	_, err := Parse([]string{"--watch-all-namespaces=maybe"})
	NewWithT(t).Expect(err).To(HaveOccurred())
}

func TestTheFeatureGateOfIdentitiesIsRead(t *testing.T) {
	for name, test := range map[string]struct {
		args []string
		want bool
	}{
		"the defaults":     {nil, false},
		"on":               {[]string{"--feature-gates=ObjectLevelWorkloadIdentity=true"}, true},
		"beside others":    {[]string{"--feature-gates", "DisableConfigWatchers=true,ObjectLevelWorkloadIdentity=true"}, true},
		"in two flags":     {[]string{"--feature-gates=ObjectLevelWorkloadIdentity=true", "--feature-gates=DisableConfigWatchers=true"}, true},
		"off":              {[]string{"--feature-gates=ObjectLevelWorkloadIdentity=false"}, false},
		"another one only": {[]string{"--feature-gates=DisableConfigWatchers=true"}, false},
	} {
		flags, err := Parse(test.args)
		g := NewWithT(t)
		g.Expect(err).NotTo(HaveOccurred(), name)
		g.Expect(flags.WorkloadIdentity).To(Equal(test.want), name)
	}
}
