// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package crash

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	. "github.com/onsi/gomega"
)

// killDuringRun waits for the start of a run, kills the victim so long after it,
// and starts the controller again if it is dead.
func (r *round) killDuringRun(ctx context.Context, v victim, moment time.Duration) {
	r.Eventually(func(g Gomega) { g.Expect(r.stack(ctx).Status.Run).NotTo(BeNil()) }).Should(Succeed(), r.report(ctx))
	select {
	case <-ctx.Done():
		return
	case <-time.After(moment): // the random moment itself: nothing is waited for
	}
	killed := 0
	if v == theController || v == allOfThem {
		r.Expect(r.s.Controller.Kill()).To(Succeed())
		killed++
	}
	if v == theCLI || v == allOfThem {
		killed += r.killAll("pulumi")
	}
	if v == theProvider || v == allOfThem {
		killed += r.killAll("pulumi-resource")
	}
	if v == allOfThem {
		killed += r.killAll("pulumi-language")
	}
	if killed == 0 {
		r.sum.missed++
	} else {
		r.sum.kill(v)
	}
	if v == theController || v == allOfThem {
		r.Expect(r.s.StartController()).To(Succeed())
	}
}

// killAll kills the processes of the name that belong to runs of this system.
// The kernel keeps 15 bytes of a name.
func (r *round) killAll(name string) int {
	const kept = 15
	if len(name) > kept {
		name = name[:kept]
	}
	killed := 0
	for _, pid := range r.runProcesses(name) {
		if syscall.Kill(pid, syscall.SIGKILL) == nil {
			killed++
		}
	}
	return killed
}

// runProcesses lists the processes of runs of this system, of one name or, when
// that is empty, of any.
func (r *round) runProcesses(name string) []int {
	environs, err := filepath.Glob("/proc/[0-9]*/environ")
	r.Expect(err).NotTo(HaveOccurred())
	var found []int
	for _, environ := range environs {
		dir := filepath.Dir(environ)
		text, err := os.ReadFile(environ)
		if err != nil || !bytes.Contains(text, []byte("PULUMI_HOME="+r.s.DataDir())) {
			continue
		}
		comm, err := os.ReadFile(filepath.Join(dir, "comm"))
		if err != nil || (name != "" && strings.TrimSpace(string(comm)) != name) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(dir)); err == nil {
			found = append(found, pid)
		}
	}
	return found
}
