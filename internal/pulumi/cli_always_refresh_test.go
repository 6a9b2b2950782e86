// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"encoding/json"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/tests/cloud"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

// alwaysRefreshing is a source whose Pulumi.yaml has Pulumi refresh by itself.
func alwaysRefreshing(things string) map[string]string {
	return map[string]string{"Pulumi.yaml": "name: demo\nruntime: yaml\noptions:\n  refresh: always\nresources:\n" + things}
}

// ofSource is an update of a source, in the cloud of the lab.
func (l *lab) ofSource() run.Run {
	r := l.update("")
	r.Config = map[string]json.RawMessage{"lab:directory": jsonString(l.cloud)}
	return r
}

// givenSource begins with the stack that an update of the files makes.
func (l *lab) givenSource(files map[string]string) {
	l.Helper()
	r := l.ofSource()
	r.Program = run.Program{Artifact: &run.Artifact{}}
	l.givenRun(r, files)
}

const wantedThings = "  a: {type: lab:Thing, properties: {name: a, value: wanted}}\n  b: {type: lab:Thing, properties: {name: b, value: wanted}}\n"

func TestAProjectThatAlwaysRefreshesUndoesDrift(t *testing.T) {
	t.Parallel()
	l := newLab(t).withProvider()
	files := alwaysRefreshing(wantedThings)
	expecting := func() run.Run {
		r := l.ofSource()
		r.Options.ExpectNoRefreshChanges = true
		return r
	}
	l.givenSource(files)
	l.drift("a", "drifted")
	l.drift("b", "drifted")

	for _, operation := range []run.Operation{run.Update, run.Preview} {
		r := expecting()
		r.Operation = operation
		result := l.doSource(r, files)
		l.Expect(result.Outcome).To(Equal(run.Drifted), result.Message)
		l.Expect(result.Message).To(ContainSubstring("lab:index:Thing (a) is changed, lab:index:Thing (b) is changed."))
		l.Expect(l.valueOf("a") + l.valueOf("b")).To(Equal("drifteddrifted"))
	}

	r := expecting()
	r.Options.Targets = []string{urnOf("b")}
	result := l.doSource(r, files)
	l.Expect(result.Outcome).To(Equal(run.Drifted), result.Message)
	l.Expect(result.Message).NotTo(ContainSubstring("(a)"), "only the targets are refreshed")
	r.Options.ExpectNoRefreshChanges = false
	l.Expect(l.doSource(r, files).Outcome).To(Equal(run.Succeeded))
	l.Expect(l.valueOf("a") + l.valueOf("b")).To(Equal("driftedwanted"))

	l.Expect(l.doSource(l.ofSource(), files).Outcome).To(Equal(run.Succeeded))
	l.Expect(l.valueOf("a")).To(Equal("wanted"))
	l.Expect(l.doSource(expecting(), files).Outcome).To(Equal(run.Succeeded))

	files["Pulumi.yaml"] = strings.Replace(files["Pulumi.yaml"], "options:\n  refresh: always\n", "", 1)
	l.drift("a", "drifted")
	l.Expect(l.doSource(expecting(), files).Outcome).To(Equal(run.Succeeded), "without a refresh nothing is looked at")
	l.Expect(l.valueOf("a")).To(Equal("drifted"))
}

// Whether a destroy has the Pulumi.yaml of the program depends on spec.runProgram, and on
// what is known of the project.
func TestAProjectThatAlwaysRefreshesDoesNotInADestroy(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	for name, edit := range map[string]func(*run.Run){
		"from the state":                    func(r *run.Run) { r.Options.RunProgram = false },
		"with the program":                  func(r *run.Run) { r.Options.RunProgram = true },
		"of a project that is not known":    func(r *run.Run) { r.Project = run.Project{} },
		"with the program, which refreshes": func(r *run.Run) { r.Options.RunProgram, r.Options.Refresh = true, true },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t).withProvider()
			files := alwaysRefreshing("  a: {type: lab:Thing, properties: {name: a, failures: {delete: not now}}}\n")
			l.givenSource(files)
			l.Expect(cloud.Open(l.cloud).Remove(l.idOf("a"))).To(Succeed())
			r := l.ofSource()
			r.Operation = run.Destroy
			edit(&r)
			result := l.doSource(r, files)
			if r.Options.Refresh {
				l.Expect(result.Outcome).To(Equal(run.Succeeded), "what is gone is not deleted again: %s", result.Message)
				return
			}
			l.Expect(result.Outcome).To(Equal(run.Failed))
			l.Expect(result.Message).To(ContainSubstring("not now"), "what the state has is deleted")
		})
	}
}
