// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

func TestDefaultsAreFluxs(t *testing.T) {
	g := NewWithT(t)
	c, err := parse(nil)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(c.metricsAddr).To(Equal(":8080"))
	g.Expect(c.healthAddr).To(Equal(":9440"))
	g.Expect(c.eventsAddr).To(BeEmpty())
	g.Expect(c.concurrent).To(Equal(4))
	g.Expect(c.httpRetry).To(Equal(9))
	g.Expect(c.interval.Percentage).To(BeEquivalentTo(5))
	g.Expect(c.watch.AllNamespaces).To(BeTrue())
	g.Expect(c.leaderElection.Enable).To(BeFalse())
	g.Expect(c.rateLimiter.MinRetryDelay).To(Equal(750 * time.Millisecond))
	g.Expect(c.noCrossNamespaceRefs).To(BeTrue(), "the one default that is not Flux's")
}

func TestCrossNamespaceRefsCanBeAllowed(t *testing.T) {
	g := NewWithT(t)
	c, err := parse([]string{"--no-cross-namespace-refs=false"})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(c.noCrossNamespaceRefs).To(BeFalse())
}

func TestBadFlagsAreNamed(t *testing.T) {
	for flag, want := range map[string]string{
		"--concurrent=0":                   "--concurrent must be at least 1",
		"--concurrent-runs=-1":             "--concurrent-runs must be at least 1",
		"--http-retry=-1":                  "--http-retry must not be negative",
		"--interval-jitter-percentage=100": "--interval-jitter-percentage must be less than 100",
		"--watch-all-namespaces=false":     "RUNTIME_NAMESPACE",
		"--no-such-flag":                   "no-such-flag",
	} {
		t.Run(flag, func(t *testing.T) {
			t.Setenv("RUNTIME_NAMESPACE", "")
			_, err := parse([]string{flag})
			NewWithT(t).Expect(err).To(MatchError(ContainSubstring(want)))
		})
	}
}

func TestOnlyTheNetworkOfTheEnvironmentIsPassedOn(t *testing.T) {
	g := NewWithT(t)
	env := map[string]string{"HTTPS_PROXY": "http://proxy", "SSL_CERT_FILE": "/ca.pem", "AWS_SECRET_ACCESS_KEY": "secret", "PULUMI_ACCESS_TOKEN": "token"}
	passed := passedEnv(func(name string) (string, bool) {
		value, ok := env[name]
		return value, ok
	})
	g.Expect(passed).To(Equal(map[string]string{"HTTPS_PROXY": "http://proxy", "SSL_CERT_FILE": "/ca.pem"}))
}

func TestTheDataDirectoryHasOneOwner(t *testing.T) {
	g := NewWithT(t)
	dir := filepath.Join(t.TempDir(), "data")
	unlock, err := lockDataDir(dir)
	g.Expect(err).NotTo(HaveOccurred())

	_, err = lockDataDir(dir)
	g.Expect(err).To(MatchError(ContainSubstring("in use by another process")))

	unlock()
	unlock, err = lockDataDir(dir)
	g.Expect(err).NotTo(HaveOccurred())
	unlock()
}

func TestJitterStaysWithinItsPercentage(t *testing.T) {
	g := NewWithT(t)
	spread := jittered(5)
	seen := map[time.Duration]bool{}
	for range 200 {
		d := spread(time.Minute)
		g.Expect(d).To(And(BeNumerically(">=", 57*time.Second), BeNumerically("<=", 63*time.Second)))
		seen[d] = true
	}
	g.Expect(len(seen)).To(BeNumerically(">", 100))
	g.Expect(jittered(0)(time.Minute)).To(Equal(time.Minute))
}
