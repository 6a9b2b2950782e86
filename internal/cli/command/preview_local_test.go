// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/console"
	"github.com/flux-pulumi/pulumi-controller/internal/inventory"
	"github.com/flux-pulumi/pulumi-controller/internal/localprogram"
	"github.com/flux-pulumi/pulumi-controller/internal/plan"
)

// files creates them in a directory, which becomes the working directory.
func files(t *testing.T, named map[string]string) {
	t.Helper()
	g := NewWithT(t)
	t.Chdir(t.TempDir())
	for name, text := range named {
		g.Expect(os.MkdirAll(filepath.Dir(name), 0o755)).To(Succeed())
		g.Expect(os.WriteFile(name, []byte(text), 0o644)).To(Succeed())
	}
}

const (
	aProgram   = "apiVersion: pulumi.com/v1\nkind: Program\nmetadata: {name: network}\nprogram:\n  outputs: {from: the manifest}\n"
	aNamespace = "apiVersion: v1\nkind: Namespace\nmetadata: {name: network}\n"
	aProject   = "name: network\nruntime: yaml\noutputs: {from: the project}\n"
)

// programs returns the ConfigMaps of local programs in the namespace.
func (w *world) programs() []corev1.ConfigMap {
	w.t.Helper()
	list := &corev1.ConfigMapList{}
	NewWithT(w.t).Expect(w.api.List(context.Background(), list, client.InNamespace(w.namespace), client.MatchingLabels{localProgramLabel: "true"})).To(Succeed())
	return list.Items
}

// answerPreviews answers like the controller, and returns the data that it found.
func (w *world) answerPreviews(key string) *[]byte {
	g := NewWithT(w.t)
	steps, err := inventory.EncodePlan(plan.Plan{Steps: []plan.Step{
		{Op: plan.OpReplace, URN: "urn:pulumi:dev::network::lab:index:Thing::a", Type: "lab:index:Thing", Properties: []plan.Property{{
			Path: "name", Kind: plan.KindUpdate, Replaces: true, Change: plan.Change{Old: json.RawMessage(`"a"`), New: json.RawMessage(`"b"`)},
		}}}}})
	g.Expect(err).NotTo(HaveOccurred())
	w.keep("network-preview", inventory.PlanKey, steps)
	found := &[]byte{}
	w.answerTo(v1.PreviewRequestAnnotation, func(request string, s *v1.StackStatus) {
		preview := &v1.PreviewStatus{Request: request, EndedAt: &metav1.Time{Time: now}, State: v1.UpdateFailed}
		s.Preview = preview
		ref, err := localprogram.ParseReference(w.network().Annotations[v1.PreviewProgramAnnotation])
		if err != nil {
			preview.Message = err.Error()
			return
		}
		brought := &corev1.ConfigMap{}
		if err := w.api.Get(context.Background(), types.NamespacedName{Namespace: w.namespace, Name: ref.ConfigMap}, brought); err != nil {
			preview.Message = err.Error()
			return
		}
		if *found, err = ref.Read(brought.Data, brought.BinaryData, key); err != nil {
			preview.Message = err.Error()
			return
		}
		preview.State, preview.Revision, preview.Replaced = v1.UpdateSucceeded, ref.Revision(), 1
		preview.ConfigMap, preview.Digest = "network-preview", inventory.Digest(steps)
	})
	return found
}

func TestPreviewOfALocalProgram(t *testing.T) {
	for name, test := range map[string]struct {
		files map[string]string
		line  string
		want  string
	}{
		"manifest": {map[string]string{"apps/all.yaml": aNamespace + "---\n" + aProgram}, "--path apps/all.yaml", `{"outputs":{"from":"the manifest"}}`},
		"folder": {map[string]string{"apps/namespace.yaml": aNamespace, "apps/program.yml": aProgram, "apps/values.yaml": "{{ no: yaml"},
			"--path apps", `{"outputs":{"from":"the manifest"}}`},
		"keys of YAML 1.1": {map[string]string{"infra/Pulumi.yaml": "name: network\nruntime: yaml\nvariables: {y: 1, yes: 2}\n"}, "--path ./infra",
			`{"variables":{"y":1,"yes":2}}`},
		"beside a template": {map[string]string{"apps/a.yaml": "# pulumi.com/v1 Program\n{{ no: yaml", "apps/program.yml": aProgram},
			"--path apps", `{"outputs":{"from":"the manifest"}}`},
		"a project beside its program": {map[string]string{"infra/Pulumi.yaml": "name: network\nruntime: yaml\n", "infra/Main.yaml": "outputs: {from: the main}\n"},
			"--path ./infra", `{"outputs":{"from":"the main"}}`},
		"project": {map[string]string{"infra/Pulumi.yaml": aProject}, "--path ./infra", `{"outputs":{"from":"the project"}}`},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			w := newWorld(t, "preview-local-"+strings.NewReplacer(" ", "-", ".", "-", "YAML", "yaml").Replace(name))
			w.apply("steered")
			found := w.answerPreviews(localprogram.ProgramKey)
			files(t, test.files)
			done := w.run("preview stack network " + test.line)
			g.Expect(done.exit).To(Equal(exitFailed), done.err)
			g.Expect(string(*found)).To(Equal(test.want))
			g.Expect(w.programs()).To(BeEmpty())
			g.Expect(w.network().Annotations).NotTo(HaveKey(v1.PreviewProgramAnnotation))
			g.Expect(done.out).To(Equal("+- lab:index:Thing a (replace)\n     ~ name: \"a\" => \"b\"  # forces replacement\n"))
		})
	}
}

func TestPreviewOfALocalDirectory(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t, "preview-local-source")
	w.apply("steered")
	stack := w.network()
	before := stack.DeepCopy()
	stack.Spec.ProgramRef, stack.Spec.FluxSource = nil, &v1.FluxSource{SourceRef: v1.SourceReference{Kind: "GitRepository", Name: "infra"}}
	g.Expect(w.api.Patch(t.Context(), stack, client.MergeFrom(before))).To(Succeed())
	found := w.answerPreviews(localprogram.ArchiveKey)
	dir := t.TempDir()
	g.Expect(os.WriteFile(filepath.Join(dir, "Pulumi.yaml"), []byte(aProject), 0o644)).To(Succeed())
	g.Expect(os.Symlink("/etc/passwd", filepath.Join(dir, "out"))).To(Succeed())
	here, err := os.Getwd()
	g.Expect(err).NotTo(HaveOccurred())
	t.Chdir(dir)
	done := w.run("preview stack network --path .")
	t.Chdir(here)
	g.Expect(string(*found)).To(HavePrefix("\x1f\x8b"))
	g.Expect(w.programs()).To(BeEmpty())
	volatileSize := regexp.MustCompile(`into \d+ bytes|local@sha256:[0-9a-f]+`)
	compare(t, "preview_local", volatileSize.ReplaceAllString(done.transcript(), "..."))
}

func TestPreviewOfALocalDirectoryExcludesWhatItsSourceExcludes(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t, "preview-local-ignored")
	w.apply("steered")
	source := &sourcev1.GitRepository{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "infra"},
		Spec:       sourcev1.GitRepositorySpec{URL: "https://example.com/infra", Ignore: new("/*\n!/infra/net\n/infra/net/*.md\n")},
	}
	g.Expect(w.api.Create(t.Context(), source)).To(Succeed())
	t.Cleanup(func() { _ = w.api.Delete(context.Background(), source) })
	stack := w.network()
	stack.Spec.ProgramRef, stack.Spec.FluxSource = nil, &v1.FluxSource{SourceRef: v1.SourceReference{Kind: "GitRepository", Name: "infra"}, Dir: "infra/net"}
	files(t, map[string]string{"Pulumi.yaml": aProject, "README.md": "", "a/README.md": ""})
	for _, test := range []struct {
		api  client.Client
		want string
	}{
		{w.api, "► packed 2 files of . into ..."},
		{interceptor.NewClient(w.api, interceptor.Funcs{
			Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
				return apierrors.NewForbidden(schema.GroupResource{Resource: "gitrepositories"}, "infra", nil)
			},
		}), "⚠️ ignoring spec.ignore of GitRepository preview-local-ignored/infra, because it cannot be read: gitrepositories \"infra\" is forbidden: <nil>\n" +
			"► packed 3 files of . into ..."},
	} {
		var errs strings.Builder
		s := &session{Environment: w.env, Console: console.New(&errs, false, nil)}
		_, _, err := s.localProgram(t.Context(), test.api, stack, ".")
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(regexp.MustCompile(`into .*\n`).ReplaceAllString(errs.String(), "into ...")).To(Equal(test.want))
	}
}

func TestPreviewRejectsWhatIsNoLocalProgram(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t, "preview-local-refuses")
	w.apply("steered")
	here, err := os.Getwd()
	g.Expect(err).NotTo(HaveOccurred())
	files(t, map[string]string{
		"empty/README.md": "", "two/Pulumi.yaml": aProject, "two/program.yaml": aProgram, "other/program.yaml": "apiVersion: pulumi.com/v1\nkind: Program\nmetadata: {name: other}\nprogram: {}\n",
		"node/Pulumi.yaml": "name: a\nruntime: nodejs\n", "broken/Pulumi.yaml": "{{ no: yaml", "none/program.yaml": "apiVersion: pulumi.com/v1\nkind: Program\nmetadata: {name: network}\n",
	})
	var text strings.Builder
	for _, path := range []string{"absent", "empty", "two", "other/program.yaml", "node", "broken", "none"} {
		text.WriteString(w.run("preview stack network --path "+path).transcript() + "\n")
	}
	text.WriteString(w.run("preview stack idle --path two/Pulumi.yaml").transcript())
	t.Chdir(here)
	compare(t, "preview_local_refuses", text.String())
	g.Expect(w.programs()).To(BeEmpty())
	g.Expect(w.network().Annotations).To(BeEmpty())
}

func TestPreviewOfALocalProgramLeavesNothingWhenItIsInterrupted(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t, "preview-local-interrupted")
	w.apply("steered")
	files(t, map[string]string{"Pulumi.yaml": aProject})
	ctx, interrupt := context.WithCancel(t.Context())
	ended := make(chan result, 1)
	go func() { ended <- w.start(ctx, "preview stack network --path Pulumi.yaml") }()
	g.Eventually(func() map[string]string { return w.network().Annotations }, time.Minute).Should(HaveKey(v1.PreviewProgramAnnotation))
	g.Expect(w.programs()).To(HaveLen(1))
	g.Expect(w.programs()[0].OwnerReferences).To(ConsistOf(HaveField("UID", w.network().UID)))
	interrupt()
	var done result
	g.Eventually(ended, time.Minute).Should(Receive(&done))
	g.Expect(done.exit).To(Equal(exitPreviewFailed))
	g.Expect(w.programs()).To(BeEmpty())
	g.Expect(w.network().Annotations).To(BeEmpty(), "a request that is left would be one for the program of the Stack")
}

func TestPreviewRemovesStalePrograms(t *testing.T) {
	for name, test := range map[string]struct {
		age  time.Duration
		left int
	}{"fresh": {staleAfter - time.Minute, 1}, "stale": {staleAfter + time.Minute, 0}} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			w := newWorld(t, "preview-local-"+name)
			w.apply("steered")
			files(t, map[string]string{"Pulumi.yaml": aProject})
			left := localConfigMap(w.network(), localprogram.ProgramKey, []byte("{}"))
			g.Expect(w.api.Create(t.Context(), left)).To(Succeed())
			w.env.Now = func() time.Time { return left.CreationTimestamp.Add(test.age) }
			w.answerPreviews(localprogram.ProgramKey)
			done := w.run("preview stack network --path Pulumi.yaml")
			g.Expect(done.exit).To(Equal(exitFailed), done.err)
			g.Expect(w.programs()).To(HaveLen(test.left))
		})
	}
}

func TestPreviewFailsIfAnotherReplacesIt(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t, "preview-other")
	w.apply("steered")
	ended := make(chan result, 1)
	go func() { ended <- w.run("preview stack network") }()
	g.Eventually(func() map[string]string { return w.network().Annotations }, time.Minute).Should(HaveKey(v1.PreviewRequestAnnotation))
	stack := w.network()
	before := stack.DeepCopy()
	stack.Annotations[v1.PreviewRequestAnnotation] = "another"
	g.Expect(w.api.Patch(t.Context(), stack, client.MergeFrom(before))).To(Succeed())
	var done result
	g.Eventually(ended, time.Minute).Should(Receive(&done))
	g.Expect(done.exit).To(Equal(exitPreviewFailed))
	g.Expect(done.err).To(ContainSubstring("another preview of the Stack was requested in the meantime: try again"))
}

func TestPreviewOfALocalProgramLeavesNothingWhenNobodyReadsIt(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t, "preview-local-unread")
	w.apply("steered")
	w.answerPreviews(localprogram.ProgramKey)
	files(t, map[string]string{"Pulumi.yaml": aProject})
	var errs strings.Builder
	env := w.env
	env.Out, env.Err = unread{}, &errs
	exit := Run(t.Context(), env, []string{"preview", "stack", "network", "--path", "Pulumi.yaml", "-n", w.namespace, "--kubeconfig", w.kubeconfig})
	g.Expect(exit).To(Equal(exitUnread), errs.String())
	g.Expect(errs.String()).To(HaveSuffix("◎ waiting for the preview\n"), "nothing is printed for a reader that is gone")
	g.Expect(w.programs()).To(BeEmpty())
	g.Expect(w.network().Annotations).NotTo(HaveKey(v1.PreviewProgramAnnotation))
}

// unread is a pipe without a reader.
type unread struct{}

func (unread) Write([]byte) (int, error) {
	return 0, &os.PathError{Op: "write", Path: "|1", Err: syscall.EPIPE}
}

func TestAProjectWithItsProgramInAnotherFileIsRejected(t *testing.T) {
	g := NewWithT(t)
	files(t, map[string]string{"infra/Pulumi.yaml": "name: network\nruntime: yaml\n", "infra/Main.yaml": "outputs: {from: the main}\n"})
	w := &world{t: t, namespace: "apps", kubeconfig: "absent", env: testEnvironment()}
	done := w.run("create program network --from-file infra/Pulumi.yaml --export")
	g.Expect(done.exit).To(Equal(exitFailed))
	g.Expect(done.err).To(Equal("✗ infra/Pulumi.yaml has no program, it is in infra/Main.yaml: give that file\n"))
	g.Expect(w.run("create program network --from-file infra/Main.yaml --export").out).To(ContainSubstring("from: the main"))
	g.Expect(os.WriteFile("infra/Main.yaml", []byte("config: {a: {default: 1}}\n"), 0o644)).To(Succeed())
	g.Expect(w.run("create program network --from-file ./infra//Main.yaml --export").out).To(ContainSubstring("default: 1"))
	g.Expect(os.WriteFile("infra/Pulumi.yaml", []byte(aProject+"main: ../infra\n"), 0o644)).To(Succeed())
	done = w.run("create program network --from-file infra/Pulumi.yaml --export")
	g.Expect(done.err).To(Equal("✗ main in infra/Pulumi.yaml makes Pulumi read the program from infra/Main.yaml: give that file\n"))
}

// theNetwork is the Program that the tests look for.
func theNetwork() client.ObjectKey { return client.ObjectKey{Namespace: "apps", Name: "network"} }

func TestTheProgramOfTheNamespaceIsFound(t *testing.T) {
	program := func(namespace, from string) string {
		return "apiVersion: pulumi.com/v1\nkind: Program\nmetadata: {name: network" + namespace + "}\nprogram: {outputs: {from: " + from + "}}\n---\n"
	}
	for name, test := range map[string]struct{ text, from, fails string }{
		"without a namespace":    {program("", "any"), "any", ""},
		"of the namespace":       {program(", namespace: apps", "apps"), "apps", ""},
		"behind one of another":  {program(", namespace: other", "other") + program(", namespace: apps", "apps"), "apps", ""},
		"of another alone":       {program(", namespace: other", "other"), "", "all.yaml has no Program network"},
		"twice":                  {program(", namespace: apps", "apps") + program("", "any"), "", "all.yaml has more than one Program network"},
		"before other documents": {program("", "any") + aNamespace + "---\nsome: text\n", "any", ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			files(t, map[string]string{"all.yaml": test.text})
			s := &session{Environment: testEnvironment()}
			program, _, err := s.findProgram(t.Context(), "all.yaml", theNetwork())
			if test.fails != "" {
				g.Expect(err).To(MatchError(test.fails))
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(program).To(Equal(map[string]any{"outputs": map[string]any{"from": test.from}}))
		})
	}
}

func TestAProgramIsReadFromAPipe(t *testing.T) {
	for name, text := range map[string]string{"a project": aProject, "a manifest": aNamespace + "---\n" + aProgram} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			reads, writes, err := os.Pipe()
			g.Expect(err).NotTo(HaveOccurred())
			defer func() { _ = reads.Close() }()
			_, err = writes.WriteString(text)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(writes.Close()).To(Succeed())
			s := &session{Environment: testEnvironment()}
			program, _, err := s.findProgram(t.Context(), fmt.Sprintf("/dev/fd/%d", reads.Fd()), theNetwork())
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(program).To(HaveKey("outputs"))
		})
	}
}

func TestKeysOfAProjectAloneAreNotInItsProgram(t *testing.T) {
	g := NewWithT(t)
	files(t, map[string]string{"Pulumi.yaml": aProject + "author: me\ntemplate: {}\nbackend: {url: \"file:///tmp\"}\noptions: {refresh: always}\n",
		"new/Pulumi.yaml": aProject + "description: d\nlicense: MIT\nwebsite: https://example.com\nconfig: {\"pulumi:tags\": {value: {\"pulumi:template\": yaml}}}\n"})
	w := &world{t: t, namespace: "apps", kubeconfig: "absent", env: testEnvironment()}
	done := w.run("create program network --from-file Pulumi.yaml --export")
	g.Expect(done.out).To(HaveSuffix("\nprogram:\n  outputs:\n    from: the project\n"))
	g.Expect(done.err).To(Equal("⚠️ ignoring backend, options of Pulumi.yaml: the Stack decides how a Program is run\n"))
	done = w.run("create program network --from-file new/Pulumi.yaml --export")
	g.Expect(done.out).To(And(ContainSubstring("description: d"), ContainSubstring("pulumi:template: yaml"), Not(ContainSubstring("MIT"))))
	g.Expect(done.err).To(BeEmpty())
}

func TestTheMainFileOfAProjectIsFoundInItsDirectory(t *testing.T) {
	const (
		project = "name: network\nruntime: yaml\n"
		main    = "outputs: {from: the main}\n"
		// A file that names a Program is also read as a manifest.
		candidate = "# pulumi.com/v1 Program\n" + main
	)
	for name, test := range map[string]struct {
		files   map[string]string
		file    string
		printed string
		fails   string
	}{
		"alone":                    {map[string]string{"Pulumi.yaml": project, "Main.yaml": main}, "Main.yaml", "", ""},
		"read for itself":          {map[string]string{"Pulumi.yaml": project, "Main.yaml": candidate}, "Main.yaml", "", ""},
		"of two projects":          {map[string]string{"Pulumi.yaml": project, "Pulumi.yml": project, "Main.yaml": main}, "Main.yaml", "", ""},
		"before another main file": {map[string]string{"Pulumi.yaml": project, "Main.yaml": "outputs: {}\n", "Main.json": `{"outputs":{"from":"the main"}}`}, "Main.json", "", ""},
		"with config beside it": {map[string]string{"Pulumi.yaml": project + "config: {a: x}\n", "Main.yaml": main}, "Main.yaml",
			"⚠️ ignoring the config of Pulumi.yaml, because the program is in Main.yaml\n", ""},
		"of another runtime": {map[string]string{"Pulumi.yaml": "name: network\nruntime: nodejs\n", "Main.yaml": main}, "", "",
			"Pulumi.yaml is a project with the runtime nodejs, but a Program can only be Pulumi YAML: use a source instead"},
		"in a directory that main names":   {map[string]string{"Pulumi.yaml": project + "main: sub/\n", "sub/Main.yaml": main, "Main.yaml": "outputs: {}\n"}, "sub/Main.yaml", "", ""},
		"in a project that main names":     {map[string]string{"Pulumi.yaml": project + "main: ./sub\noutputs: {}\n", "sub/Pulumi.yaml": project + main}, "sub/Pulumi.yaml", "", ""},
		"beside a file that main names":    {map[string]string{"Pulumi.yaml": project + "main: sub/any.yaml\n", "sub/any.yaml": "", "sub/Main.yaml": main}, "sub/Main.yaml", "", ""},
		"where main names the project":     {map[string]string{"Pulumi.yaml": project + "main: .\n" + main}, "Pulumi.yaml", "", ""},
		"where main names nothing":         {map[string]string{"Pulumi.yaml": project + "main: sub\n"}, "", "", "reading main of Pulumi.yaml: stat sub: no such file or directory"},
		"where main names another program": {map[string]string{"Pulumi.yaml": project + "main: sub\n", "sub/index.ts": ""}, "", "", "main of Pulumi.yaml is sub, which has neither a Main.yaml nor a Pulumi.yaml"},
		"of a broken project":              {map[string]string{"Pulumi.yaml": "{{ no: yaml", "Main.yaml": main}, "", "", "Pulumi.yaml is not YAML"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			files(t, test.files)
			var printed strings.Builder
			s := &session{Console: console.New(&printed, false, nil)}
			program, file, err := s.findProgram(t.Context(), ".", theNetwork())
			g.Expect(printed.String()).To(Equal(test.printed))
			if test.fails != "" {
				g.Expect(err).To(MatchError(ContainSubstring(test.fails)))
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(file).To(Equal(test.file))
			g.Expect(program).To(Equal(map[string]any{"outputs": map[string]any{"from": "the main"}}))
		})
	}
}
