// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"maps"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

// fromSource is a run of a program of a source, whose files are in the workspace of the directory.
func (l *lab) fromSource(operation run.Operation, files map[string]string) (Directory, run.Run) {
	l.Helper()
	dir := Directory(l.TempDir())
	r := l.update("")
	r.Operation, r.Program = operation, run.Program{Artifact: &run.Artifact{}}
	writeTree(l.T, dir.Workspace(), files)
	return dir, r
}

// doFromSource does such a run.
func (l *lab) doFromSource(operation run.Operation, files map[string]string) run.Result {
	l.Helper()
	dir, r := l.fromSource(operation, files)
	return l.doWritten(l.Context(), dir, r)
}

// keepsThing expects the run to fail with the message, to make no calls but those given, and to leave the one thing alone.
func (l *lab) keepsThing(dir Directory, r run.Run, message string, calls ...string) {
	l.Helper()
	result := l.doWritten(l.Context(), dir, r)
	l.Expect(result.Outcome).To(Equal(run.Failed))
	l.Expect(result.Message).To(ContainSubstring(message))
	l.Expect(result.Changes).To(BeZero())
	l.Expect(l.newCalls()).To(Equal(calls))
	l.Expect(l.things()).To(Equal(1))
}

const plainProject = "name: demo\nruntime: yaml\n"

// Without the check, Pulumi reports in most of these cases that it has deleted the thing, and succeeds.
func TestAProgramThatIsMissingDeletesNothing(t *testing.T) {
	t.Parallel()
	l := newLab(t).withProvider()
	program := l.thing("value: x")
	l.given(program)
	const (
		noMain  = `project "demo" has no program: there is no Main.yaml in the directory "/`
		bare    = `, and its Pulumi.yaml has no resources, variables or outputs`
		leftOut = `: symbolic links, and files that .sourceignore or spec.ignore of the source excludes, are not in an artifact. `
		empty   = `has no resources, variables or outputs. To delete all resources of the stack on purpose, set resources: {} in Main.yaml`
	)
	for name, test := range map[string]struct {
		files map[string]string
		want  string
	}{
		"a link, or a file that is ignored": {nil, noMain + `"` + bare + leftOut + "To delete all resources of the stack on purpose, set resources: {} in Pulumi.yaml"},
		"with config of the project":        {map[string]string{"Pulumi.yaml": plainProject + "config: {lab:directory: x}\n"}, noMain + `"` + bare + leftOut},
		"with empty sections":               {map[string]string{"Pulumi.yaml": plainProject + "variables: {}\noutputs: {}\n"}, noMain + `"` + bare + leftOut},
		"in small letters":                  {map[string]string{"main.yaml": program, "README.md": "", "Zz": ""}, noMain + `"` + bare + ". Pulumi does not read its main.yaml: rename it to Main.yaml. "},
		"with another extension":            {map[string]string{"Main.yml": program}, noMain + `"` + bare + ". Pulumi does not read its Main.yml: rename it to Main.yaml. "},
		"in a project file with another extension": {map[string]string{"Pulumi.yaml": "", "Pulumi.yml": plainProject + program},
			noMain + `". Pulumi does not read its Pulumi.yml: rename it to Pulumi.yaml. `},
		"beside a project file of JSON": {map[string]string{"Pulumi.yaml": "", "Pulumi.json": `{"name": "demo", "runtime": "yaml"}`, "main.yml": program},
			noMain + `". Pulumi does not read its main.yml: rename it to Main.yaml. `},
		"in a directory that is missing": {map[string]string{"Pulumi.yaml": plainProject + "main: parts\n" + program},
			`the directory "/parts", which main names, does not exist` + leftOut},
		"in a directory with other files": {map[string]string{"Pulumi.yaml": plainProject + "main: parts/\n", "parts/main.tf": ""}, noMain + `parts"` + leftOut},
		"beside a file that main names":   {map[string]string{"Pulumi.yaml": plainProject + "main: parts/any.yaml\n", "parts/any.yaml": program}, noMain + `parts"` + leftOut},
		"in a directory with another project": {map[string]string{"Pulumi.yaml": plainProject + "main: parts\n" + program, "parts/Pulumi.yaml": plainProject},
			noMain + `parts"` + bare + leftOut},
		"of a compiler without a name": {map[string]string{"Pulumi.yaml": "name: demo\nruntime: {name: yaml, options: {compiler: \"\"}}\n"}, noMain + `"` + bare + leftOut},
		"in a directory outside":       {map[string]string{"Pulumi.yaml": plainProject + "main: ../..\n"}, `main of its Pulumi.yaml is "../..", which is not in the source`},
		"in a directory of the system": {map[string]string{"Pulumi.yaml": plainProject + "main: /usr\n"}, `main of its Pulumi.yaml is "/usr", which is not in the source`},
		"hidden by an empty file": {map[string]string{"Pulumi.yaml": plainProject + program, "Main.yaml": "{}\n"},
			"Main.yaml in the directory \"/\" has no resources, variables or outputs, and Pulumi does not read the program in Pulumi.yaml because of it: delete Main.yaml to run that program. "},
		"in an empty file":           {map[string]string{"Main.yaml": "{}\n"}, "Main.yaml in the directory \"/\" " + empty},
		"in an empty file of JSON":   {map[string]string{"Main.json": "{}", "Main.yaml": program}, "Main.json in the directory"},
		"with a typing error":        {map[string]string{"Main.yaml": "resorces: {a: {type: \"lab:index:Thing\"}}\n"}, empty},
		"in a merge key":             {map[string]string{"Main.yaml": "<<: {resources: {a: {type: \"lab:index:Thing\"}}}\n"}, empty},
		"hidden by an empty section": {map[string]string{"Main.yaml": program + "resources: {}\n"}, empty},
		"in a file that is too big": {map[string]string{"Main.yaml": "outputs: {o: 1}\n#" + strings.Repeat("x", maxProgram)},
			`Main.yaml in the directory "/" is too big to see whether it has lost its resources: it can have up to 4 MiB`},
		"with null as resources": {map[string]string{"Main.yaml": "resources:\n"}, empty},
	} {
		t.Run(name, func(t *testing.T) {
			l.T, l.WithT = t, NewWithT(t)
			files := map[string]string{"Pulumi.yaml": plainProject}
			maps.Copy(files, test.files)
			if files["Pulumi.yaml"] == "" {
				delete(files, "Pulumi.yaml")
			}
			for _, operation := range []run.Operation{run.Update, run.Preview} {
				dir, r := l.fromSource(operation, files)
				l.keepsThing(dir, r, test.want)
			}
		})
	}
}

// Pulumi itself rejects what is no program.
func TestAProgramThatIsBrokenDeletesNothing(t *testing.T) {
	t.Parallel()
	deletesNothing(t, map[string]string{
		"resources: []\n": "resources must be an object",
	})
}

func TestAnyProgramThatIsBrokenDeletesNothing(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	deletesNothing(t, map[string]string{
		"":                        "EOF",
		"null\n":                  "must be an object",
		"# resources\n":           "EOF",
		"---\n---\nresources: {}": "must be an object",
		"[]\n":                    "must be an object",
		"resources: none\n":       "resources must be an object",
		"x: &x {}\nresources: *x": "alias nodes are not supported",
		"resources: {a: null}\n":  "resources.a must be an object",
	})
}

// deletesNothing updates a stack of one thing with each of the programs.
func deletesNothing(t *testing.T, failures map[string]string) {
	t.Helper()
	l := newLab(t).withProvider()
	l.given(l.thing("value: x"))
	for text, want := range failures {
		t.Run(text, func(t *testing.T) {
			l.T, l.WithT = t, NewWithT(t)
			dir, r := l.fromSource(run.Update, map[string]string{"Pulumi.yaml": plainProject, "Main.yaml": text})
			l.keepsThing(dir, r, want, "up", "stack export") // which is for its secrets
		})
	}
}

func TestAProgramThatHasLostItsResourcesDeletesNothing(t *testing.T) {
	t.Parallel()
	l := newLab(t).withProvider()
	l.given(l.thing("value: x"))
	const message = "the program has no resources, and the stack has 2, which an update would delete: " +
		"bring the resources of the program back, or, to delete those of the stack on purpose, set "
	for _, text := range []string{"{}\n", "outputs: {o: 1}\n", "variables: {v: 1}\nconfig: {c: {default: 1}}\n"} {
		l.keepsThing(Directory(t.TempDir()), l.update(text), message+"program.resources of the Program to {}", "stack export")
	}
	preview := l.update("outputs: {o: 1}\n")
	preview.Operation = run.Preview
	l.keepsThing(Directory(t.TempDir()), preview, message+"program.resources of the Program to {}", "stack export")
	dir, r := l.fromSource(run.Update, map[string]string{"Pulumi.yaml": plainProject, "Main.yaml": "outputs: {o: 1}\n"})
	l.keepsThing(dir, r, message+"resources: {} in Main.yaml", "stack export")
	dir, r = l.fromSource(run.Preview, map[string]string{"Pulumi.yaml": plainProject + "variables: {v: 1}\n"})
	l.keepsThing(dir, r, message+"resources: {} in Pulumi.yaml", "stack export")
	again := l.update("outputs: {o: 1}\n")
	again.Exists, again.InspectFirst = false, true
	l.keepsThing(Directory(t.TempDir()), again, message, "stack init", "stack export")

	result := l.do(t.Context(), l.update("resources: {}\n"))
	l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
	l.Expect(result.Changes).To(Equal(run.Changes{Deleted: 2}))
	l.Expect(l.newCalls()).To(Equal([]string{"up"}))
	l.Expect(l.things()).To(BeZero())
}

func TestAProgramThatNeverHadResourcesRuns(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	l := newLab(t)
	for _, test := range []struct {
		text  string
		calls []string
	}{
		{"outputs: {o: 1}\n", []string{"stack init", "up"}},
		{"outputs: {o: 2}\n", []string{"stack export", "up"}},
		{"{}\n", []string{"stack export", "up"}},
		{"resources: {}\n", []string{"up"}},
	} {
		result := l.do(t.Context(), l.update(test.text))
		l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
		l.Expect(l.newCalls()).To(Equal(test.calls))
	}
	for _, text := range []string{plainProject + "outputs: {o: 1}\n", plainProject + "resources: {}\n"} {
		result := l.doFromSource(run.Update, map[string]string{"Pulumi.yaml": text})
		l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
	}
}

// Neither deletes what is not in the program.
func TestAProgramThatIsMissingHindersNoDestroyAndNoRecovery(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	l := newLab(t).withProvider()
	files := map[string]string{"Pulumi.yaml": plainProject, "Main.yaml": l.thing("value: x")}
	l.given(files["Main.yaml"])
	delete(files, "Main.yaml")
	dir, r := l.fromSource(run.Recover, files)
	r.Options.RunProgram, r.Interrupted = true, []run.Interrupted{{ID: "lost", Operation: run.Recover}}
	result := l.doWritten(t.Context(), dir, r)
	l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
	l.Expect(l.things()).To(Equal(1))
	dir, r = l.fromSource(run.Destroy, files)
	r.Options.RunProgram = true
	result = l.doWritten(t.Context(), dir, r)
	l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
	l.Expect(l.things()).To(BeZero())
}

func TestACompilerThatPrintsNoResourcesDeletesNothing(t *testing.T) {
	t.Parallel()
	l := newLab(t).withProvider()
	files := func(program string) map[string]string {
		return map[string]string{"Pulumi.yaml": "name: demo\nruntime: {name: yaml, options: {compiler: cat printed}}\n", "printed": program}
	}
	first := l.doFromSource(run.Update, files(l.thing("value: x")))
	l.Expect(first.Outcome).To(Equal(run.Succeeded), first.Message)
	l.newCalls()
	for text, want := range map[string]string{
		"outputs: {o: 1}\n": `the compiler "cat printed", which Pulumi.yaml names, prints no resources, and the stack has 2, which an update would delete`,
		"":                  `the compiler "cat printed", which Pulumi.yaml names, prints no program in Pulumi YAML`,
	} {
		for _, operation := range []run.Operation{run.Update, run.Preview} {
			dir, r := l.fromSource(operation, files(text))
			result := l.doWritten(t.Context(), dir, r)
			l.Expect(result.Outcome).To(Equal(run.Failed))
			l.Expect(result.Message).To(ContainSubstring(want))
			l.Expect(result.Changes).To(BeZero())
			l.Expect(l.newCalls()).To(ContainElement("preview"))
			l.Expect(l.things()).To(Equal(1))
		}
	}
	next := l.doFromSource(run.Update, files(l.thing("value: y")))
	l.Expect(next.Outcome).To(Equal(run.Succeeded), next.Message)
	l.Expect(next.Changes).To(Equal(run.Changes{Updated: 1, Same: 1}))
	l.Expect(l.newCalls()).To(Equal([]string{"preview", "up"}))
}
