// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/snapshot"
)

// takenBack is a store that notes what it takes back.
type takenBack struct {
	*snapshot.Store
	take func(workspace string) error
}

func (s takenBack) TakeBack(workspace string) error { return s.take(workspace) }

// A copy may be taken back only once nothing of the run can change it.
func TestDependenciesAreGivenBackHoweverARunEnds(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		program string
		outcome run.Outcome
		hangs   bool
	}{
		"a run that succeeds":            {program: `{}`, outcome: run.Succeeded},
		"a run that fails":               {program: `{"install": {"stderr": ["no"], "fail": "exit status 1"}}`, outcome: run.Failed},
		"a run whose timeout has passed": {program: `{"install": {"stderr": ["downloading"], "hang": true}}`, outcome: run.TimedOut, hangs: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t).withLanguage()
			dir, r := l.written(test.program)
			var taken []string
			l.driver.Snapshots = takenBack{take: func(workspace string) error {
				l.Expect(Alive(r.ID)).To(BeZero(), "before all processes have ended")
				l.Expect(workspace).To(BeADirectory(), "after it was removed")
				taken = append(taken, workspace)
				return errors.New("the disk is full")
			}}
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			results := make(chan run.Result, 1)
			go func() { results <- l.doWritten(ctx, dir, r) }()
			if test.hangs {
				l.Eventually(filepath.Join(dir.Workspace(), "installing")).Should(BeAnExistingFile())
				cancel(context.DeadlineExceeded)
			}
			var result run.Result
			l.Eventually(results).Should(Receive(&result))
			l.Expect(result.Outcome).To(Equal(test.outcome), "that the disk is full changes nothing")
			l.Expect(taken).To(Equal([]string{dir.Workspace()}))
			l.Expect(l.saidLines()).To(ContainElement("the disk is full"))
		})
	}
}

func TestDependenciesOfPolicyPacksAreGivenBack(t *testing.T) {
	g := NewWithT(t)
	var taken []string
	s := &session{dir: "/runs/a", run: run.Run{Policies: make([]run.PolicyPack, 2)}, driver: &Driver{Snapshots: takenBack{take: func(workspace string) error {
		taken = append(taken, workspace)
		return nil
	}}}}
	s.giveBackDependencies()
	g.Expect(taken).To(Equal([]string{"/runs/a/workspace", "/runs/a/policies/0/workspace", "/runs/a/policies/1/workspace"}))
	s.driver.Snapshots = nil
	s.giveBackDependencies()
}
