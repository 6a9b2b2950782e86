// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"os"
	"os/user"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// The data directory is lost, and with it the PIDs of the run.
func TestALockIsOursThoughTheFilesOfItsRunAreLost(t *testing.T) {
	g := NewWithT(t)
	host, err := os.Hostname()
	g.Expect(err).NotTo(HaveOccurred())
	self, err := user.Current()
	g.Expect(err).NotTo(HaveOccurred())
	booted, err := bootTime()
	g.Expect(err).NotTo(HaveOccurred())
	if !seesItsHost() {
		t.Skip("this is a container with the host name of its machine")
	}
	dir := Directory(filepath.Join(t.TempDir(), "new"))
	g.Expect(dir.of("kept").Make()).To(Succeed())
	g.Expect(os.WriteFile(dir.of("kept").pids(), []byte("1\n"), 0o600)).To(Succeed())
	g.Expect(dir.of("emptied").Make()).To(Succeed())
	now := time.Now()
	ended, process := beside{lab: &lab{T: t, WithT: g}}.dead(), living(t)
	ours := lockHolder{user: self.Username, host: host, pid: ended, at: now}
	here := run.Interrupted{ID: "lost", Host: host, Place: run.Here, From: now.Add(-time.Minute), To: now.Add(time.Minute)}
	then := booted.Add(-time.Hour)
	rebooted := run.Interrupted{ID: "lost", Host: host, Place: run.BeforeBoot, From: then.Add(-time.Minute), To: now}

	for name, test := range map[string]struct {
		lost   run.Interrupted
		change func(*lockHolder, *run.Interrupted)
		ours   bool
	}{
		"of a process that has ended":              {here, func(*lockHolder, *run.Interrupted) {}, true},
		"of a number that is alive":                {here, func(h *lockHolder, _ *run.Interrupted) { h.pid = process }, false},
		"of a number that is alive, and younger":   {here, func(h *lockHolder, _ *run.Interrupted) { h.pid, h.at = process, now.Add(-30*time.Second) }, true},
		"of another user":                          {here, func(h *lockHolder, _ *run.Interrupted) { h.user = "bob" }, false},
		"of nobody that is known":                  {here, func(h *lockHolder, _ *run.Interrupted) { h.user = "" }, false},
		"of another host":                          {here, func(h *lockHolder, _ *run.Interrupted) { h.host = "laptop" }, false},
		"from before the run":                      {here, func(h *lockHolder, _ *run.Interrupted) { h.at = now.Add(-time.Hour) }, false},
		"from after the run":                       {here, func(h *lockHolder, _ *run.Interrupted) { h.at = now.Add(time.Hour) }, false},
		"of a time that is not known":              {here, func(h *lockHolder, _ *run.Interrupted) { h.at = time.Time{} }, false},
		"of a run of a time that is not known":     {here, func(_ *lockHolder, lost *run.Interrupted) { lost.From, lost.To = time.Time{}, time.Time{} }, false},
		"of a run of another PID namespace":        {here, func(_ *lockHolder, lost *run.Interrupted) { lost.Place = run.Elsewhere }, false},
		"of a run whose directory was emptied":     {here, func(_ *lockHolder, lost *run.Interrupted) { lost.ID = "emptied" }, true},
		"of a run whose files are there":           {here, func(_ *lockHolder, lost *run.Interrupted) { lost.ID = "kept" }, false},
		"from before the boot":                     {rebooted, func(h *lockHolder, _ *run.Interrupted) { h.at = then }, true},
		"from before the boot, of a number in use": {rebooted, func(h *lockHolder, _ *run.Interrupted) { h.at, h.pid = then, process }, true},
		"from after the boot, of a run before it":  {rebooted, func(*lockHolder, *run.Interrupted) {}, false},
		"from before the boot, by someone else":    {rebooted, func(h *lockHolder, _ *run.Interrupted) { h.at, h.user = then, "bob" }, false},
		"from before the boot, and before the run": {rebooted, func(h *lockHolder, _ *run.Interrupted) { h.at = then.Add(-time.Hour) }, false},
	} {
		lock, lost := ours, test.lost
		test.change(&lock, &lost)
		s := &session{dir: dir, run: run.Run{Interrupted: []run.Interrupted{lost}}}
		g.Expect(s.isOurs(lock)).To(Equal(test.ours), name)
	}
}
