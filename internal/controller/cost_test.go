// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"io"
	"net/http"
	"regexp"
	"strconv"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"k8s.io/client-go/rest"
)

// cost is what this process, which is the controller and the test, and the API server have used so far. It is only logged: how much
// that is depends on the machine.
type cost struct {
	at time.Time
	// requests are those of the controller.
	requests int
	// own and server are CPU seconds, and stored is the size of the database of etcd in bytes.
	own, server, stored float64
}

func newCost(t *testing.T, of *orderedCluster) cost {
	t.Helper()
	g := NewWithT(t)
	var used syscall.Rusage
	g.Expect(syscall.Getrusage(syscall.RUSAGE_SELF, &used)).To(Succeed())
	c := cost{at: time.Now(), requests: len(of.requests.read()), own: time.Duration(used.Utime.Nano() + used.Stime.Nano()).Seconds()}
	api, err := rest.HTTPClientFor(of.config)
	g.Expect(err).NotTo(HaveOccurred())
	response, err := api.Get(of.config.Host + "/metrics")
	g.Expect(err).NotTo(HaveOccurred())
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(response.StatusCode).To(Equal(http.StatusOK), string(text))
	value := func(metric string) float64 {
		found := regexp.MustCompile(`(?m)^` + metric + `(?:\{[^}]*\})? (\S+)$`).FindSubmatch(text)
		g.Expect(found).NotTo(BeNil(), metric)
		number, err := strconv.ParseFloat(string(found[1]), 64)
		g.Expect(err).NotTo(HaveOccurred())
		return number
	}
	c.server, c.stored = value("process_cpu_seconds_total"), value("apiserver_storage_size_bytes")
	return c
}

// log logs what was used since then, for each of the runs.
func (c cost) log(t *testing.T, of *orderedCluster, runs int) {
	t.Helper()
	if runs == 0 {
		return
	}
	now, n := newCost(t, of), float64(runs)
	t.Logf("%d runs in %.1f s: %d requests, %.1f s of CPU here (%.2f ms each) and %.1f s in the API server (%.2f ms each); the database of etcd grew from %.1f to %.1f MiB (%.1f KiB each)",
		runs, now.at.Sub(c.at).Seconds(), now.requests-c.requests, now.own-c.own, (now.own-c.own)/n*1000, now.server-c.server, (now.server-c.server)/n*1000,
		c.stored/(1<<20), now.stored/(1<<20), (now.stored-c.stored)/n/1024)
}
