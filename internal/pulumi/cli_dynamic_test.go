// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/tests/process"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

const dynamicProgram = `{"dynamic": ["d"]}`

// withDynamic makes a stack with a resource of a dynamic provider.
func withDynamic(t *testing.T, program string) *lab {
	t.Helper()
	l := newLab(t).withLanguage()
	plugin, err := process.FindBin(filepath.Join("lab", "pulumi-resource-standin"))
	l.Expect(err).NotTo(HaveOccurred())
	dir := filepath.Join(l.driver.Cache, "plugins", "resource-pulumi-nodejs-v0.1.0")
	l.Expect(os.MkdirAll(dir, 0o700)).To(Succeed())
	l.Expect(os.Symlink(plugin, filepath.Join(dir, "pulumi-resource-pulumi-nodejs"))).To(Succeed())
	l.givenWritten(program)
	return l
}

// fromState is a run that works from the state, in an empty directory, and brings the program if it needs it.
func (l *lab) fromState(operation run.Operation, program string) (Directory, run.Run) {
	l.Helper()
	dir, r := l.written(program)
	l.Expect(os.RemoveAll(dir.Workspace())).To(Succeed())
	r.Operation = operation
	r.Project = run.Project{Name: "demo", Runtime: "lab"}
	r.Fetch = func(context.Context) error {
		l.Expect(os.ReadDir(dir.Workspace())).To(BeEmpty())
		writeTree(l.T, dir.Workspace(), map[string]string{"Pulumi.yaml": "name: demo\nruntime: lab\n", "program.json": program})
		return nil
	}
	return dir, r
}

// The providers of the program's own code need its dependencies, also where it does not run.
func TestDynamicProvidersHaveTheDependenciesOfTheProgram(t *testing.T) {
	t.Parallel()
	l := withDynamic(t, dynamicProgram)
	dir, r := l.fromState(run.Recover, dynamicProgram)
	r.Interrupted = []run.Interrupted{{ID: "gone-" + r.ID, Operation: run.Recover}}
	result := l.doWritten(t.Context(), dir, r)
	l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
	l.Expect(l.newCalls()).To(Equal([]string{"stack export", "install", "refresh", "stack export"}))

	dir, r = l.fromState(run.Destroy, dynamicProgram)
	result = l.doWritten(t.Context(), dir, r)
	l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
	l.Expect(result.Changes.Deleted).To(Equal(1))
	l.Expect(l.newCalls()).To(Equal([]string{"install", "destroy", "stack rm"}))
	l.Expect(l.saidLines()).To(ContainElement(ContainSubstring("a dynamic provider (pulumi-nodejs:dynamic:Resource)")))
}

func TestARecoveryOfOtherResourcesDoesNotNeedADynamicProvider(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	l := withDynamic(t, `{"things": ["a"], "dynamic": ["d"]}`)
	l.interrupt("a")
	dir, r := l.fromState(run.Recover, dynamicProgram)
	r.Interrupted = []run.Interrupted{{ID: "gone-" + r.ID, Operation: run.Update}}
	r.Fetch = func(context.Context) error { return errors.New("it is fetched") }
	result := l.doWritten(t.Context(), dir, r)
	l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
	l.Expect(l.newCalls()).To(Equal([]string{"stack export", "refresh", "stack export"}))
}

func TestADestroyWithoutTheProgramOfADynamicProviderSaysWhatItNeeds(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	gone := &run.OutcomeError{Outcome: run.ArtifactGone, Err: errors.New("the artifact is gone")}
	for name, test := range map[string]struct {
		edit    func(*run.Run)
		program string
		outcome run.Outcome
		message string
	}{
		"where its source is missing": {
			edit: func(r *run.Run) {
				r.Fetch, r.Program = nil, run.Program{Unavailable: "source 'GitRepository/a/b' not found"}
			},
			outcome: run.Failed,
			message: "; the state has a resource of a dynamic provider, pulumi-nodejs:dynamic:Resource, which needs the program and its dependencies, " +
				"but source 'GitRepository/a/b' not found: restore the source of the program",
		},
		"where it has no source": {
			edit:    func(r *run.Run) { r.Fetch, r.Program = nil, run.Program{} },
			outcome: run.Failed, message: "but the Stack has no source with a program: ",
		},
		"where it cannot be fetched": {
			edit:    func(r *run.Run) { r.Fetch = func(context.Context) error { return gone } },
			outcome: run.ArtifactGone, message: "the artifact is gone (the state has a resource of a dynamic provider",
		},
		"where its dependencies cannot be installed": {
			program: `{"install": {"fail": "no luck"}}`, outcome: run.Failed, message: installing + ": no luck",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := withDynamic(t, dynamicProgram)
			dir, r := l.fromState(run.Destroy, test.program)
			if test.edit != nil {
				test.edit(&r)
			}
			result := l.doWritten(t.Context(), dir, r)
			l.Expect(result.Outcome).To(Equal(test.outcome), result.Message)
			l.Expect(result.Message).To(ContainSubstring(test.message))
			l.Expect(result.Interrupted).To(BeFalse())
			l.Expect(l.state()).To(ContainSubstring("pulumi-nodejs:dynamic:Resource::d"))
		})
	}
}
