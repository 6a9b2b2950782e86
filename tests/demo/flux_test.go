// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/podlogs"
	"github.com/flux-pulumi/pulumi-controller/tests/process"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

// typed is a command of `flux pulumi`, its exit code, and what it prints: a regular
// expression, in which REVISION is what the Stack has applied.
type typed struct {
	command string
	exit    int
	prints  string
}

// TestFluxPulumiWithTheStackOfTheDemo types the commands of the plugin as a person does
// who looks at the Stack from git.
func TestFluxPulumiWithTheStackOfTheDemo(t *testing.T) {
	short.Skip(t)
	d := halfway(t)
	changed := d.programWith(t, "version 3")
	for _, c := range []typed{
		{"get stacks -n default", 0, `^NAME .*\nquickstart\tmain@sha1:[0-9a-f]{8}\tFalse    \tTrue .*\n$`},
		{"suspend stack quickstart -n default", 0, `✔ stack suspended\n$`},
		{"get stacks quickstart -n default --no-header", 0, `^quickstart\tmain@sha1:[0-9a-f]{8}\tTrue\tTrue\t`},
		{"reconcile stack quickstart -n default", 1, `^✗ resource is suspended\n$`},
		{"resume stack quickstart -n default", 0, `✔ stack resumed\n(.*\n)*✔ applied revision REVISION\n$`},
		{"reconcile stack quickstart -n default --with-source", 0, `✔ fetched revision REVISION\n(.*\n)*✔ applied revision REVISION\n$`},
		{"tree stack quickstart -n default", 0, `^Stack/default/quickstart\n├── lab:index:Thing database database-[0-9a-f]{8}\n`},
		{"outputs stack quickstart -n default", 0, `\npassword\t\[secret\] .*\nweb     \tversion 1\t\n$`},
		{"outputs stack quickstart -n default --show-secrets", 1, `^✗ secret outputs are only in the Secret of spec.writeOutputsToSecret, `},
		{"history stack quickstart -n default", 0, `\nmain@sha1:[0-9a-f]{8}\tupdate .*\tReconciliationSucceeded\t.*\t2   \t3 unchanged\t\n$`},
		{"events --for Stack/quickstart -n default", 0, `\tStack/quickstart .*\tUpdate succeeded: 3 created`},
		{"trace stack quickstart -n default", 0, `^Object:          Stack/quickstart\n(.*\n)*Revision:        REVISION\n(.*\n)*GitRepository:   quickstart\n`},
		{"export stack quickstart -n default", 0, `^---\napiVersion: pulumi.com/v1\nkind: Stack\n(.*\n)*        key: database-password\n`},
		{"debug stack quickstart -n default", 0,
			`\nconfig\tpassword .*\t\[secret\] .*\tspec.secretsRef.password(.*\n)*inputs .*\tgoes on`},
		{"preview stack quickstart -n default", 0, `✔ no changes at revision REVISION\n$`},
		{"preview stack quickstart -n default --path " + changed, 1,
			`► lab:index:Thing web drifted\n    value\n(.*\n)*⚠️ an update to revision local@\S+ would change this: 1 to update, 2 unchanged\n`},
		{"preview stack absent -n default", 2, `^✗ stacks.pulumi.com "absent" not found\n$`},
		{"cancel stack quickstart -n default", 1, `^✗ no run of Stack quickstart is in flight\n$`},
		{"create stack words -n default --stack dev --program greeting --export", 0,
			`^---\napiVersion: pulumi.com/v1\nkind: Stack\n(.*\n)*  programRef:\n    name: greeting\n`},
		{"check --pre", 0, `✔ prerequisites checks passed\n$`},
		{"check", 1, `✗ no controllers found in the 'flux-system' namespace (.*\n)*✔ stacks.pulumi.com/v1\n(.*\n)*✗ check failed\n$`},
	} {
		t.Run(strings.ReplaceAll(c.command, changed, "DIR"), func(t *testing.T) { d.types(t, c) })
	}
	t.Run("logs", d.showsLogs)
	t.Run("outputs with secrets", d.showsSecrets)
}

// halfway is a demo that goes no further than the Stack from git.
func halfway(t *testing.T) *demo {
	t.Helper()
	g := NewWithT(t)
	root, err := process.RepoRoot()
	g.Expect(err).NotTo(HaveOccurred())
	d := &demo{examples: filepath.Join(root, "examples", "quickstart"), dir: t.TempDir(), screen: &screen{out: t.Output()}}
	// Not the context of the test, which ends before its clean-up.
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(func() {
		defer cancel()
		g.Expect(d.stop()).To(Succeed())
		g.Expect(processesUsing(d.dir)).To(BeEmpty())
	})
	g.Expect(d.start(ctx)).To(Succeed())
	g.Expect(d.fromGit(ctx)).To(Succeed())
	return d
}

// programWith is a directory with the program of the demo, with a value for its web
// resource.
func (d *demo) programWith(t *testing.T, version string) string {
	t.Helper()
	g := NewWithT(t)
	files, err := d.program(version)
	g.Expect(err).NotTo(HaveOccurred())
	dir := t.TempDir()
	for name, text := range files {
		g.Expect(os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600)).To(Succeed())
	}
	return dir
}

// types runs a command, and expects what it prints and its exit code.
func (d *demo) types(t *testing.T, c typed) {
	t.Helper()
	g := NewWithT(t)
	stack := &v1.Stack{}
	g.Expect(d.system.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: gitStack}, stack)).To(Succeed())
	stdout, stderr, exit, err := d.flux.Run(t.Context(), append([]string{"pulumi"}, strings.Fields(c.command)...)...)
	g.Expect(err).NotTo(HaveOccurred())
	printed := stdout + stderr
	g.Expect(exit).To(Equal(c.exit), printed)
	g.Expect(printed).To(MatchRegexp(strings.ReplaceAll(c.prints, "REVISION", stack.Status.LastAppliedRevision)))
	if !strings.Contains(c.command, "--show-secrets") {
		g.Expect(printed).NotTo(ContainSubstring("change-me"), "secrets are not shown")
	}
}

// showsLogs reads the log of the controller. It is no pod here: a node that serves its log
// stands in.
func (d *demo) showsLogs(t *testing.T) {
	g := NewWithT(t)
	node, err := podlogs.Start(t.Context(), d.system, podlogs.Options{
		Node: "node", Namespace: d.system.RuntimeNamespace(), Pod: "pulumi-controller-0",
		Log: func() ([]byte, error) { return os.ReadFile(d.system.ControllerLog()) },
	})
	g.Expect(err).NotTo(HaveOccurred())
	defer node.Stop()
	d.types(t, typed{"logs quickstart -n default", 0, `(?m)^\S+Z info Stack/quickstart.default - lab:index:Thing \(web\): create done`})
}

// showsSecrets has the outputs written to a Secret, where they can be read.
func (d *demo) showsSecrets(t *testing.T) {
	stack := &v1.Stack{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: gitStack}}
	patch := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"writeOutputsToSecret":{"name":"quickstart-outputs"}}}`))
	NewWithT(t).Expect(d.system.Patch(t.Context(), stack, patch)).To(Succeed())
	d.types(t, typed{"reconcile stack quickstart -n default", 0, `✔ applied revision REVISION\n$`})
	d.types(t, typed{"outputs stack quickstart -n default --show-secrets", 0, `\npassword\tchange-me-too\t\n`})
	d.types(t, typed{"outputs stack quickstart -n default", 0, `\npassword\t\[secret\] `})
}
