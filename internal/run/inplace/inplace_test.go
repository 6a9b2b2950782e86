// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package inplace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/pulumi"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/source"
)

// driverFunc is a Driver that only looks at what it is given.
type driverFunc func(ctx context.Context, dir pulumi.Directory, r run.Run) run.Result

func (f driverFunc) Do(ctx context.Context, dir pulumi.Directory, r run.Run, _ func(string)) run.Result {
	return f(ctx, dir, r)
}

// fetched is a Fetcher of a source with one program.
type fetched struct{ err error }

func (f fetched) Fetch(_ context.Context, _ run.Artifact, dir string) error {
	return errors.Join(f.err, os.WriteFile(filepath.Join(dir, "Pulumi.yaml"), nil, 0o600))
}

func TestARunIsNotStartedWithoutItsPolicyPacks(t *testing.T) {
	packs := []run.PolicyPack{{Set: "base", Name: "tags"}, {Set: "base", Name: "regions"}}
	for name, test := range map[string]struct {
		operation run.Operation
		source    error
		outcome   run.Outcome
	}{
		"an update":                       {operation: run.Update, outcome: run.Succeeded},
		"a check":                         {operation: run.CheckPolicies, outcome: run.Succeeded},
		"an update, and one is corrupt":   {operation: run.Update, source: errors.New("corrupt"), outcome: run.PolicyPackFailed},
		"an update, and one is deleted":   {operation: run.Update, source: source.ErrGone, outcome: run.PolicyPackFailed},
		"an update, and the disk is full": {operation: run.Update, source: source.ErrWorkspace, outcome: run.WorkspaceFailed},
		"a destroy, and one is corrupt":   {operation: run.Destroy, source: errors.New("corrupt"), outcome: run.Succeeded},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			place := Executor{Fetcher: fetched{test.source}, Driver: driverFunc(func(_ context.Context, dir pulumi.Directory, r run.Run) run.Result {
				for n := range r.Policies {
					if test.operation == run.Destroy {
						g.Expect(dir.Policy(n).Workspace()).NotTo(BeADirectory())
						continue
					}
					g.Expect(filepath.Join(dir.Policy(n).Workspace(), "Pulumi.yaml")).To(BeAnExistingFile())
				}
				return run.Result{Outcome: run.Succeeded}
			})}
			result := place.Do(t.Context(), pulumi.Directory(t.TempDir()), run.Run{Operation: test.operation, Project: run.Project{Name: "app"}, Policies: packs}, func(string) {})
			g.Expect(result.Outcome).To(Equal(test.outcome), result.Message)
			if test.outcome == run.PolicyPackFailed {
				g.Expect(result.Message).To(HavePrefix("policy pack tags of PolicySet base: "))
			}
		})
	}
}

func TestADestroyFromTheStateFetchesItsProgramOnlyOnRequest(t *testing.T) {
	artifact := &run.Artifact{URL: "http://source/a"}
	project := run.Project{Name: "app"}
	for name, test := range map[string]struct {
		run             run.Run
		source          error
		before, offered bool
		outcome         run.Outcome
	}{
		"an update":                    {run: run.Run{Operation: run.Update, Program: run.Program{Artifact: artifact}}, before: true},
		"a destroy":                    {run: run.Run{Operation: run.Destroy, Project: project, Program: run.Program{Artifact: artifact}}, offered: true},
		"a destroy, and no artifact":   {run: run.Run{Operation: run.Destroy, Project: project}},
		"a destroy, and it is deleted": {run: run.Run{Operation: run.Destroy, Project: project, Program: run.Program{Artifact: artifact}}, offered: true, source: fmt.Errorf("no: %w", source.ErrGone), outcome: run.ArtifactGone},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			place := Executor{Fetcher: fetched{test.source}, Driver: driverFunc(func(ctx context.Context, dir pulumi.Directory, r run.Run) run.Result {
				program := filepath.Join(dir.Workspace(), "Pulumi.yaml")
				_, err := os.Stat(program)
				g.Expect(err == nil).To(Equal(test.before))
				g.Expect(r.Fetch != nil).To(Equal(test.offered))
				if !test.offered {
					return run.Result{Outcome: run.Succeeded}
				}
				err = r.Fetch(ctx)
				var known *run.OutcomeError
				g.Expect(errors.As(err, &known)).To(Equal(test.source != nil))
				if known != nil {
					g.Expect(known.Outcome).To(Equal(test.outcome))
				}
				g.Expect(program).To(BeAnExistingFile())
				return run.Result{Outcome: run.Succeeded}
			})}
			result := place.Do(t.Context(), pulumi.Directory(t.TempDir()), test.run, func(string) {})
			g.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
		})
	}
}
