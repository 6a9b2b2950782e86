// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/fluxcd/pkg/apis/meta"
	. "github.com/onsi/gomega"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/podlogs"
	"github.com/flux-pulumi/pulumi-controller/tests/system"
)

// fluxCLI is the real flux command with the plugin in its folder, as a user of the namespace.
type fluxCLI struct {
	*tenant
	cli *system.FluxCLI
}

func newFluxCLI(t *tenant) *fluxCLI {
	t.test.Helper()
	cli, err := system.NewFluxCLI(t.test.TempDir(), t.ControlPlane.KubeconfigPath(), "FLUX_SYSTEM_NAMESPACE="+t.namespace)
	t.Expect(err).NotTo(HaveOccurred())
	return &fluxCLI{tenant: t, cli: cli}
}

// run returns what `flux pulumi` prints on stdout and on stderr, and its exit code.
func (f *fluxCLI) run(args ...string) (stdout, stderr string, exit int) {
	f.test.Helper()
	return f.flux(append([]string{"pulumi"}, args...)...)
}

func (f *fluxCLI) flux(args ...string) (stdout, stderr string, exit int) {
	f.test.Helper()
	stdout, stderr, exit, err := f.cli.Run(f.ctx, args...)
	f.Expect(err).NotTo(HaveOccurred())
	f.Expect(stdout+stderr).NotTo(ContainSubstring("\x1b"), "neither colour nor progress on a pipe")
	return stdout, stderr, exit
}

// does expects a command to succeed and returns all that it prints.
func (f *fluxCLI) does(args ...string) string {
	f.test.Helper()
	out, errs, exit := f.run(args...)
	f.Expect(exit).To(Equal(0), "flux pulumi %s: %s%s", strings.Join(args, " "), out, errs)
	return out + errs
}

// fails expects a command to fail and returns what it says.
func (f *fluxCLI) fails(args ...string) string {
	f.test.Helper()
	out, errs, exit := f.run(args...)
	f.Expect(exit).To(Equal(1), "flux pulumi %s: %s%s", strings.Join(args, " "), out, errs)
	return errs
}

// fields are the columns of the row of an object in a table.
func fields(table, name string) []string {
	for line := range strings.Lines(table) {
		var columns []string
		for column := range strings.SplitSeq(line, "\t") {
			columns = append(columns, strings.TrimSpace(column))
		}
		if columns[0] == name {
			return columns[:len(columns)-1] // a row ends in a tab
		}
	}
	return nil
}

// TestTheFluxCommandLineShowsAndSteersStacks goes through a day with a Stack.
func TestTheFluxCommandLineShowsAndSteersStacks(t *testing.T) {
	t.Parallel()
	u := newFluxCLI(newTenant(t, shared))
	u.Expect(u.fails("get", "stacks")).To(Equal("✗ no Stack objects found in \"" + u.namespace + "\" namespace\n"))

	source := u.git(project("lab", twoThings("one", "two")))
	stack := u.stack(fromGit)
	u.apply(stack)
	u.awaitReady(stack)
	revision := stack.Status.LastAppliedRevision
	short := revision[:strings.LastIndex(revision, ":")+9]
	u.Expect(fields(u.does("get", "stacks"), "app")).To(Equal([]string{"app", short, "False", "True", "Applied revision: " + short}))
	u.Expect(fields(u.does("get", "all"), "stack/app")).To(ContainElement("True"))

	u.Expect(u.does("suspend", "stack", "app")).To(ContainSubstring("✔ stack suspended\n"))
	u.Expect(u.fails("reconcile", "stack", "app")).To(Equal("✗ resource is suspended\n"))
	u.Expect(u.does("resume", "stack", "app")).To(HaveSuffix("✔ Stack app reconciliation completed\n✔ applied revision " + revision + "\n"))

	u.edited("b", "drifted")
	u.Expect(u.does("reconcile", "stack", "app", "--force")).To(HaveSuffix("✔ applied revision " + revision + "\n"))
	u.Expect(u.things()).To(HaveKeyWithValue("b", "one"), "what was changed by hand is undone")

	u.reconcilesAfterACommit(source)
	u.showsWhatHappened()
	u.completes()
	u.fromTheDefaultNamespace(stack)
}

// reconcilesAfterACommit has a commit fetched and run, and another one that fails.
func (f *fluxCLI) reconcilesAfterACommit(source *gitSource) {
	f.test.Helper()
	second := source.commit(project("lab", twoThings("one", "three")))
	said := f.does("reconcile", "stack", "app", "--with-source")
	f.Expect(said).To(And(ContainSubstring("✔ fetched revision "+second+"\n"), HaveSuffix("✔ applied revision "+second+"\n")))
	f.Expect(f.things()).To(HaveKeyWithValue("c", "three"))

	source.commit(project("lab", twoThings("one", "four", "failures: {update: the quota is exceeded}")))
	f.Expect(f.fails("reconcile", "stack", "app", "--with-source")).To(And(
		ContainSubstring("✗ Stack reconciliation failed: "), ContainSubstring("the quota is exceeded")))
	f.Expect(f.fails("reconcile", "stack", "absent")).To(Equal("✗ stacks.pulumi.com \"absent\" not found\n"))
}

func (f *fluxCLI) showsWhatHappened() {
	f.test.Helper()
	// An event is written after the status.
	f.Eventually(func() string { return f.does("events", "--for", "Stack/app") }).Should(And(
		HavePrefix("LAST SEEN"), ContainSubstring("Stack/app"), ContainSubstring("Update succeeded: 2 created"),
		ContainSubstring("the quota is exceeded"), ContainSubstring("GitRepository/")))
	f.Expect(f.does("tree", "stack", "app")).To(And(
		HavePrefix("Stack/"+f.namespace+"/app\n"), ContainSubstring("── lab:index:Thing b "), ContainSubstring("── lab:index:Thing c ")))
	f.Expect(f.does("history", "stack", "app")).To(And(ContainSubstring("ReconciliationSucceeded"), ContainSubstring("UpdateFailed")))
	f.Expect(f.does("history", "stack", "app", "--diff")).To(MatchRegexp(`(?s)^UpdateFailed: update of .* ! lab:index:Thing c \(update failed\)\n.*` +
		`\nReconciliationSucceeded: .* ~ lab:index:Thing c \(updated\)\n +~ value: "two" => "three"\n.*` +
		`\nReconciliationSucceeded: .* ~ lab:index:Thing b \(updated\)\n.*: 2 created\n \+ lab:index:Thing b \(created\)\n`))
	var recorded meta.History
	f.Expect(json.Unmarshal([]byte(f.does("history", "stack", "app", "-o", "json")), &recorded)).To(Succeed())
	f.Expect(recorded[0].Metadata).To(And(HaveKeyWithValue("cause", Not(BeEmpty())), HaveKeyWithValue("message", ContainSubstring("the quota is exceeded"))))
	f.Expect(f.does("history", "stack", "app", "--log", recorded[0].Metadata["run"])).To(ContainSubstring("the quota is exceeded"))
	f.Expect(f.does("debug", "stack", "app")).To(ContainSubstring("\ninputs"))
	f.Expect(f.does("trace", "stack", "app")).To(And(HavePrefix("Object:          Stack/app\n"), ContainSubstring("GitRepository:"), ContainSubstring("Branch:")))
	f.Expect(f.does("export", "stack", "app")).To(And(HavePrefix("---\napiVersion: pulumi.com/v1\nkind: Stack\n"), Not(ContainSubstring("status:"))))

	// The controller is no pod here: a node that serves its log stands in.
	node, err := podlogs.Start(f.ctx, f.Client(), podlogs.Options{
		Node: f.namespace, Namespace: f.namespace, Pod: "pulumi-controller-0",
		Log: func() ([]byte, error) { return os.ReadFile(f.ControllerLog()) },
	})
	f.Expect(err).NotTo(HaveOccurred())
	defer node.Stop()
	f.Expect(f.does("logs", "app", "--flux-namespace", f.namespace)).To(MatchRegexp(
		`(?m)^\d{4}-\d\d-\d\dT\S+Z error Stack/app\.` + f.namespace + ` - .*the quota is exceeded`))
}

func (f *fluxCLI) completes() {
	f.test.Helper()
	out, _, exit := f.flux("__complete", "pulumi", "get", "stacks", "")
	f.Expect(exit).To(Equal(0))
	f.Expect(out).To(Equal("app\n:4\n"))
	out, _, _ = f.flux("__complete", "pulumi", "rec")
	f.Expect(out).To(HavePrefix("reconcile"))
}

// fromTheDefaultNamespace names the namespace, as one does who works from that of Flux.
func (f *fluxCLI) fromTheDefaultNamespace(stack *v1.Stack) {
	f.test.Helper()
	f.Expect(f.fails("get", "stacks", "-n", "default", "app")).To(Equal("✗ Stack object 'app' not found in \"default\" namespace\n"))
	f.Expect(f.does("get", "stacks", "-A")).To(MatchRegexp(`(?m)^` + stack.Namespace + `\s+app\s`))
}
