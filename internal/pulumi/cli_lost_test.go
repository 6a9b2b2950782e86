// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/cgroup"
	"github.com/flux-pulumi/pulumi-controller/internal/pulumi/process"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

// The kernel kills the process that needs the most memory, whatever it is to Pulumi, which only says that a connection broke.
func TestAProcessOfARunThatIsKilledIsNamed(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	const limit = "raise the memory limit of the container that runs Pulumi, which is 512Mi"
	for command, test := range map[string]struct {
		oomKilled bool
		want      string
	}{
		"pulumi-language-yaml": {oomKilled: true, want: "out of memory: the language host pulumi-language-yaml was killed (OOMKilled): " + limit},
		"pulumi-resource-lab": {
			want: "lab:index:Thing (a): the provider plugin of lab ended unexpectedly and did not say why: if it was out of memory, " + limit,
		},
		"pulumi": {oomKilled: true, want: "Pulumi was killed (OOMKilled): the stack may be left locked, with pending operations; " + limit},
	} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			l := newLab(t).withProvider().withStack()
			var kills atomic.Int32
			l.driver.Memory = func() cgroup.Memory { return cgroup.Memory{Limit: 512 << 20, Kills: int(kills.Load())} }
			r := l.update(l.thing("hold: create"))
			results := l.start(t.Context(), r)
			l.awaitCreate()
			if test.oomKilled {
				kills.Add(1)
			}
			l.killAll(r, command)
			l.release()
			var result run.Result
			l.Eventually(results).Should(Receive(&result))
			l.Expect(result.Outcome).To(Equal(run.Failed))
			l.Expect(result.Message).To(HavePrefix(test.want))
			l.Expect(Alive(r.ID)).To(BeZero())
		})
	}
}

// killAll kills the processes of a run that execute a command.
func (l *lab) killAll(r run.Run, command string) {
	l.Helper()
	found, err := process.Marked(markOf(r.ID))
	l.Expect(err).NotTo(HaveOccurred())
	defer process.Release(found)
	killed := 0
	for _, one := range found {
		line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", one.Pid))
		if path, _, _ := strings.Cut(string(line), "\x00"); filepath.Base(path) == command {
			l.Expect(one.Kill()).To(Succeed())
			killed++
		}
	}
	l.Expect(killed).NotTo(BeZero())
}
