// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/tests/process"
)

// TestAFailureOfTheControlPlaneEndsIt watches shells in the place of etcd and of the API server.
func TestAFailureOfTheControlPlaneEndsIt(t *testing.T) {
	t.Parallel()
	answers := func(context.Context) error { return nil }
	for name, test := range map[string]struct {
		end    func(*ControlPlane) error
		probe  func(context.Context) error
		silent time.Duration
		why    string
	}{
		"etcd is killed":       {end: func(c *ControlPlane) error { return c.etcd.Kill() }, probe: answers, why: "etcd has ended: signal: killed"},
		"the server is killed": {end: func(c *ControlPlane) error { return c.apiserver.Kill() }, probe: answers, why: "kube-apiserver has ended: signal: killed"},
		"nothing is answered": {
			end:   func(*ControlPlane) error { return nil },
			probe: func(context.Context) error { return errors.New("504") }, silent: 200 * time.Millisecond,
			why: "kube-apiserver has not answered for ",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := NewWithT(t)
			c := watched(t, test.silent, test.probe)
			g.Expect(test.end(c)).To(Succeed())
			g.Eventually(c.Context().Done(), time.Minute).Should(BeClosed())
			g.Expect(context.Cause(c.Context())).To(MatchError(And(ContainSubstring(test.why), ContainSubstring("inodes are free"))))
			g.Expect(c.etcd.Done()).To(BeClosed(), "no request waits for it")
			g.Expect(c.apiserver.Done()).To(BeClosed(), "no request waits for it")
			g.Expect(c.StartAPIServer(t.Context())).To(MatchError(ContainSubstring(test.why)))
		})
	}
}

func TestAControlPlaneThatIsStoppedHasNotFailed(t *testing.T) {
	t.Parallel()
	for name, stop := range map[string]func(*ControlPlane) error{
		"the server is stopped": (*ControlPlane).StopAPIServer, "the server is killed": (*ControlPlane).KillAPIServer, "all is stopped": (*ControlPlane).Stop,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := NewWithT(t)
			c := watched(t, 200*time.Millisecond, func(context.Context) error { return nil })
			g.Expect(stop(c)).To(Succeed())
			g.Expect(c.apiserver.Done()).To(BeClosed())
			g.Eventually(c.serverUnwatched, time.Minute).Should(BeClosed())
			g.Expect(c.Context().Err()).To(Succeed())
			g.Expect(c.Stop()).To(Succeed())
			g.Eventually(c.etcdUnwatched, time.Minute).Should(BeClosed())
			g.Expect(c.Context().Err()).To(Succeed())
		})
	}
}

// watched is a control plane of two shells.
func watched(t *testing.T, silence time.Duration, probe func(context.Context) error) *ControlPlane {
	t.Helper()
	g := NewWithT(t)
	c := &ControlPlane{dir: t.TempDir(), watch: newWatch(silence)}
	t.Cleanup(func() { g.Expect(c.Stop()).To(Succeed()) })
	for name, p := range map[string]**process.Process{"etcd": &c.etcd, "kube-apiserver": &c.apiserver} {
		var err error
		*p, err = process.Start(context.WithoutCancel(t.Context()), process.Spec{
			Name: name, Path: "/bin/sh", Args: []string{"-c", "echo " + name + " is up; exec sleep 600"}, Log: filepath.Join(c.dir, name+".log"),
		})
		g.Expect(err).NotTo(HaveOccurred())
	}
	c.watchEtcd(c.etcd)
	c.watchServer(c.apiserver, probe)
	return c
}
