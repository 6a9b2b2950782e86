// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/localprogram"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
	"github.com/flux-pulumi/pulumi-controller/tests/sources"
)

// previews expects changes, and returns what is printed of them.
func (f *fluxCLI) previews(args ...string) string {
	f.test.Helper()
	out, errs, exit := f.run(append([]string{"preview", "stack", "app"}, args...)...)
	f.Expect(exit).To(Equal(1), out+errs)
	f.Expect(errs).To(ContainSubstring("⚠️ an update to revision "))
	return out
}

// unread runs a command whose pipe nobody reads any more, as `| head` does.
func (f *fluxCLI) unread(args ...string) {
	f.test.Helper()
	read, write, err := os.Pipe()
	f.Expect(err).NotTo(HaveOccurred())
	f.Expect(read.Close()).To(Succeed())
	defer func() { _ = write.Close() }()
	command := f.cli.Command(f.ctx, append([]string{"pulumi"}, args...)...)
	command.Stdout = write
	_ = command.Run() // it fails
	f.Expect(command.ProcessState.ExitCode()).To(Equal(141), "it ends by itself, and not by the signal")
}

// localDir is a local directory with the files.
func (t *tenant) localDir(files sources.Files) string {
	t.test.Helper()
	dir := t.test.TempDir()
	for name, text := range files {
		t.Expect(os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755)).To(Succeed())
		t.Expect(os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644)).To(Succeed())
	}
	return dir
}

// brought are the ConfigMaps of programs that were brought.
func (t *tenant) brought() []corev1.ConfigMap {
	t.test.Helper()
	list := &corev1.ConfigMapList{}
	t.Expect(t.List(t.ctx, list, client.InNamespace(t.namespace), client.MatchingLabels{v1.PreviewProgramAnnotation: "true"})).To(Succeed())
	return list.Items
}

func TestTheFluxCommandLinePreviewsDriftReplacementsAndLocalPrograms(t *testing.T) {
	t.Parallel()
	u := newFluxCLI(newTenant(t, shared))
	source := u.git(project("lab", twoThings("one", "two")))
	stack := u.stack(fromGit, refreshed)
	u.apply(stack)
	u.awaitReady(stack)
	u.Expect(u.does("preview", "stack", "app")).To(ContainSubstring("✔ no changes at revision " + stack.Status.LastAppliedRevision + "\n"))

	u.edited("b", "edited by hand")
	journal, before := len(u.journal(u)), stack.DeepCopy()
	u.Expect(u.previews()).To(Equal(" ~ lab:index:Thing b (update)\n     ~ value: \"edited by hand\" => \"one\"\n"))

	// What is to be committed: c has another name, which replaces it, and b is gone.
	next := project("lab", "resources:\n  c:\n    type: lab:index:Thing\n    properties: {name: c2, value: two}\n")
	u.Expect(u.previews("--path", u.localDir(next))).To(Equal(" - lab:index:Thing b (delete)\n+- lab:index:Thing c (replace)\n     ~ name: \"c\" => \"c2\"  # forces replacement\n"))
	u.Expect(u.brought()).To(BeEmpty())
	u.unread("preview", "stack", "app", "--path", u.localDir(next))
	u.Expect(u.brought()).To(BeEmpty(), "also where nobody reads what is printed")
	u.Expect(u.journal(u)[journal:]).To(HaveEach(HavePrefix("read ")), "nothing was changed in the cloud")
	u.Expect(u.things()).To(Equal(map[string]string{"b": "edited by hand", "c": "two"}))
	u.Expect(u.Get(u.ctx, keyOf(stack), stack)).To(Succeed())
	u.Expect(stack.Status.Conditions).To(Equal(before.Status.Conditions))
	u.Expect(stack.Annotations).NotTo(HaveKey(v1.PreviewProgramAnnotation))

	_, errs, exit := u.run("preview", "stack", "app", "--path", u.localDir(project("another", twoThings("one", "two"))))
	u.Expect(exit).To(Equal(2))
	u.Expect(errs).To(ContainSubstring("✗ preview failed: "), "a program of another project is another stack")

	revision := source.commit(next)
	u.Expect(u.does("reconcile", "stack", "app", "--with-source")).To(HaveSuffix("✔ applied revision " + revision + "\n"))
	u.Expect(u.things()).To(Equal(map[string]string{"c2": "two"}))
	// An event is written after the status.
	u.Eventually(func() string { return u.does("events", "--for", "Stack/app") }).Should(ContainSubstring("1 replaced, 1 deleted"))
}

func TestTheFluxCommandLinePreviewsALocalProgramObject(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	u := newFluxCLI(newTenant(t, shared))
	program := u.tenant.program(oneThing("one"))
	u.apply(program)
	stack := u.stack(fromProgram)
	u.apply(stack)
	u.awaitReady(stack)
	dir := u.localDir(project("any", oneThing("two")))
	u.Expect(u.previews("--path", filepath.Join(dir, "Pulumi.yaml"))).To(HavePrefix(" ~ lab:index:Thing a (update)\n     ~ value: \"one\" => \"two\"\n"))
	u.Expect(u.things()).To(Equal(map[string]string{"a": "one"}))
	u.Expect(u.brought()).To(BeEmpty())

	// A change of the source is applied first, unless the Stack only previews.
	edit(u.tenant, stack, func(s *v1.Stack) { s.Spec.Preview = true })
	edit(u.tenant, program, func(p *v1.Program) { u.setProgram(p, twoThings("three", "four")) })
	u.awaitPreviewed(stack, "2 to create, 1 to delete")
	u.Expect(u.previews()).To(And(ContainSubstring(" - lab:index:Thing a (delete)\n"), ContainSubstring(" + lab:index:Thing b (create)\n"), ContainSubstring(" + lab:index:Thing c (create)\n")))
	u.Expect(u.things()).To(Equal(map[string]string{"a": "one"}))
}

// tarOf is an archive of one file.
func tarOf(t *tenant, name, text string) []byte {
	t.test.Helper()
	var data bytes.Buffer
	zipped := gzip.NewWriter(&data)
	archive := tar.NewWriter(zipped)
	t.Expect(archive.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(text)), Typeflag: tar.TypeReg})).To(Succeed())
	_, err := archive.Write([]byte(text))
	t.Expect(err).NotTo(HaveOccurred())
	t.Expect(archive.Close()).To(Succeed())
	t.Expect(zipped.Close()).To(Succeed())
	return data.Bytes()
}

// TestABadLocalProgramIsRefused brings what the command line does not make.
func TestABadLocalProgramIsRefused(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	u := newTenant(t, shared)
	u.git(project("lab", oneThing("one")))
	stack := u.stack(fromGit)
	u.apply(stack)
	u.awaitReady(stack)
	for name, test := range map[string]struct {
		data []byte
		want string
	}{
		"above":     {tarOf(u, "../evil", "x"), `the program that was brought: it could not be unpacked: tar contained invalid name error "../evil"`},
		"noproject": {tarOf(u, "index.ts", "x"), "Pulumi.yaml"},
		"notar":     {[]byte("hello"), "it is not a gzip-compressed tar archive"},
	} {
		u.apply(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, BinaryData: map[string][]byte{localprogram.ArchiveKey: test.data}})
		u.annotate(stack, v1.PreviewProgramAnnotation, localprogram.NewReference(name, test.data).String())
		reported := u.awaitPreview(stack, name)
		u.Expect(reported.State).To(Equal(v1.UpdateFailed), name)
		u.Expect(reported.Message).To(ContainSubstring(test.want))
		u.Expect(reported.Message).NotTo(ContainSubstring(u.dir), "no path of the controller")
	}
	u.awaitReady(stack)
	u.Expect(u.things()).To(Equal(map[string]string{"a": "one"}))
}
