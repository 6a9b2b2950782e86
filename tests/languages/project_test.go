// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package languages

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/cloud"
	"github.com/flux-pulumi/pulumi-controller/tests/failure"
	"github.com/flux-pulumi/pulumi-controller/tests/sources"
	"github.com/flux-pulumi/pulumi-controller/tests/toolchain"
)

const (
	// patience is how long to wait for anything that takes one run. It is long because the machine may be busy.
	patience = 4 * time.Minute
	polling  = 100 * time.Millisecond
	// canary is the secret that programs have in their configuration.
	canary = "canary-of-a-program-4d1b"
)

// project is a program in a git repository, and the Stacks that follow it, in a namespace of their own.
type project struct {
	*failure.Assertions
	*world
	test      *testing.T
	namespace string
	repo      *sources.GitRepo
	source    *sourcev1.GitRepository
	// revision is that of the newest commit.
	revision string
	dir      string
	cloud    *cloud.Cloud
}

// newProject commits the files, and follows them.
func newProject(t *testing.T, files sources.Files) *project {
	t.Helper()
	p := newRepository(t, files)
	p.source = &sourcev1.GitRepository{
		ObjectMeta: metav1.ObjectMeta{Name: "app"},
		Spec: sourcev1.GitRepositorySpec{
			URL: p.repo.URL(), Interval: metav1.Duration{Duration: time.Hour}, Reference: &sourcev1.GitRepositoryRef{Branch: sources.Branch},
		},
	}
	p.apply(p.source)
	return p
}

// newRepository commits the files, which nothing follows yet.
func newRepository(t *testing.T, files sources.Files) *project {
	t.Helper()
	p := &project{Assertions: failure.NewAssertions(t, shared.ControlPlane.Context()), world: shared, test: t}
	p.SetDefaultEventuallyTimeout(patience)
	p.SetDefaultEventuallyPollingInterval(polling)
	name := strings.Trim(regexp.MustCompile("[^a-z0-9]+").ReplaceAllString(strings.ToLower(strings.TrimPrefix(t.Name(), "Test")), "-"), "-")
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: name[:min(len(name), 50)] + "-"}}
	p.Expect(p.Create(t.Context(), namespace)).To(Succeed())
	p.namespace = namespace.Name
	p.dir = filepath.Join(p.world.dir, "stacks", p.namespace)
	p.cloud = cloud.Open(p.place())
	p.Expect(os.MkdirAll(filepath.Join(p.dir, "backend"), 0o755)).To(Succeed())
	t.Cleanup(p.leave)

	p.apply(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "app"}, StringData: map[string]string{"password": canary}})
	var err error
	p.repo, err = p.git.NewRepo(t.Context(), p.namespace)
	p.Expect(err).NotTo(HaveOccurred())
	p.commit(files)
	return p
}

// leave reports the details of a failed test, and deletes the Stacks without destroying anything.
func (p *project) leave() {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if p.test.Failed() {
		p.test.Log("\n" + strings.Join(failure.Describe(ctx, p.Client(), p.namespace, failure.LogFile(p.ControllerLog())), "\n"))
	}
	var stacks v1.StackList
	p.Expect(p.List(ctx, &stacks, client.InNamespace(p.namespace))).To(Succeed())
	for i := range stacks.Items {
		patch := client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"destroyOnFinalize":false}}`))
		p.Expect(client.IgnoreNotFound(p.Patch(ctx, &stacks.Items[i], patch))).To(Succeed())
		p.Expect(client.IgnoreNotFound(p.Client().Delete(ctx, &stacks.Items[i]))).To(Succeed())
	}
}

// place is the directory of the cloud.
func (p *project) place() string { return p.Path("clouds", p.namespace) }

// Client tells the methods of the API client from those of the test.
func (p *project) Client() client.Client { return p.WithWatch }

// apply creates an object in the namespace.
func (p *project) apply(object client.Object) {
	p.test.Helper()
	object.SetNamespace(p.namespace)
	p.Expect(p.Create(p.test.Context(), object)).To(Succeed())
}

// commit commits the files over what is there, and has the source look.
func (p *project) commit(files sources.Files) {
	p.test.Helper()
	commit, err := p.repo.Commit(p.test.Context(), files, "next")
	p.Expect(err).NotTo(HaveOccurred())
	p.revision = sources.Branch + "@sha1:" + commit
	if p.source == nil {
		return // the first, before there is one
	}
	patch := client.MergeFrom(p.source.DeepCopy())
	metav1.SetMetaDataAnnotation(&p.source.ObjectMeta, meta.ReconcileRequestAnnotation, commit)
	p.Expect(p.Patch(p.test.Context(), p.source, patch)).To(Succeed())
}

// stack creates a Stack of the program, which destroys what it made. Its long intervals rule out that something is tried
// once more.
func (p *project) stack(changes ...func(*v1.StackSpec)) *v1.Stack {
	p.test.Helper()
	stack := &v1.Stack{ObjectMeta: metav1.ObjectMeta{Name: "dev"}, Spec: v1.StackSpec{
		Backend: "file://" + filepath.Join(p.dir, "backend"),
		FluxSource: &v1.FluxSource{SourceRef: v1.SourceReference{
			APIVersion: sourcev1.GroupVersion.String(), Kind: sourcev1.GitRepositoryKind, Name: "app"}},
		Config:            map[string]apiextensionsv1.JSON{"lab:directory": value(p.place())},
		SecretsRef:        map[string]v1.ResourceRef{"password": secret("password")},
		EnvRefs:           map[string]v1.ResourceRef{"PULUMI_CONFIG_PASSPHRASE": literal("passphrase")},
		DestroyOnFinalize: true,
		Interval:          &metav1.Duration{Duration: time.Hour},
		RetryInterval:     &metav1.Duration{Duration: time.Hour},
	}}
	for name, text := range toolchain.GoEnvironment() {
		stack.Spec.EnvRefs[name] = literal(text)
	}
	for _, change := range changes {
		change(&stack.Spec)
	}
	if stack.Spec.Stack == "" {
		stack.Spec.Stack = "dev"
	}
	stack.Name = strings.ReplaceAll(stack.Spec.Stack, "/", "-")
	p.apply(stack)
	return stack
}

// in is the directory of the repository that has the program.
func in(dir string) func(*v1.StackSpec) {
	return func(s *v1.StackSpec) { s.FluxSource.Dir = dir }
}

// value is a text in the configuration. Tests use no characters that Go quotes differently than JSON.
func value(text string) apiextensionsv1.JSON {
	return apiextensionsv1.JSON{Raw: fmt.Appendf(nil, "%q", text)}
}

func literal(text string) v1.ResourceRef {
	return v1.ResourceRef{Type: v1.ResourceRefLiteral, Literal: &v1.LiteralValue{Value: text}}
}

// secret refers to a key of the Secret app.
func secret(key string) v1.ResourceRef {
	return v1.ResourceRef{Type: v1.ResourceRefSecret, Secret: &v1.SecretKeyReference{Name: "app", Key: key}}
}

func keyOf(object client.Object) client.ObjectKey { return client.ObjectKeyFromObject(object) }

// edit changes the spec of a Stack.
func (p *project) edit(stack *v1.Stack, change func(*v1.StackSpec)) {
	p.test.Helper()
	p.Eventually(func() error {
		if err := p.Get(p.test.Context(), keyOf(stack), stack); err != nil {
			return err
		}
		before := stack.DeepCopy()
		change(&stack.Spec)
		return p.Patch(p.test.Context(), stack, client.MergeFrom(before))
	}).Should(Succeed())
}

// awaitReady waits until the newest commit is applied for the spec as it is, without a warning.
func (p *project) awaitReady(stack *v1.Stack) {
	p.test.Helper()
	p.awaitApplied(stack)
	p.Expect(conditions.GetMessage(stack, meta.ReadyCondition)).To(Equal("Applied revision: " + p.revision))
}

// awaitWarning is awaitReady with a warning.
func (p *project) awaitWarning(stack *v1.Stack, text string) {
	p.test.Helper()
	p.awaitApplied(stack)
	p.Expect(conditions.GetMessage(stack, meta.ReadyCondition)).To(And(HavePrefix("Applied revision: "+p.revision), ContainSubstring(text)))
}

func (p *project) awaitApplied(stack *v1.Stack) {
	p.test.Helper()
	p.Eventually(func(g Gomega) {
		g.Expect(p.Get(p.test.Context(), keyOf(stack), stack)).To(Succeed())
		g.Expect(stack.Status.Run).To(BeNil())
		ready := conditions.Get(stack, meta.ReadyCondition)
		g.Expect(ready).NotTo(BeNil())
		if ready.Status == metav1.ConditionFalse && stack.Status.LastAttemptedRevision == p.revision {
			StopTrying("the run has failed: " + ready.Message).Now()
		}
		g.Expect(ready.Status).To(Equal(metav1.ConditionTrue), ready.Message)
		g.Expect(stack.Status.ObservedGeneration).To(Equal(stack.Generation))
		g.Expect(stack.Status.LastAppliedRevision).To(Equal(p.revision))
	}).Should(Succeed())
}

// awaitFailure waits until the newest commit has failed with a message that has the texts.
func (p *project) awaitFailure(stack *v1.Stack, texts ...string) {
	p.test.Helper()
	p.Eventually(func(g Gomega) {
		g.Expect(p.Get(p.test.Context(), keyOf(stack), stack)).To(Succeed())
		g.Expect(stack.Status.Run).To(BeNil())
		g.Expect(stack.Status.LastAttemptedRevision).To(Equal(p.revision))
		g.Expect(conditions.GetReason(stack, meta.ReadyCondition)).To(Equal(v1.UpdateFailedReason))
		for _, text := range texts {
			g.Expect(conditions.GetMessage(stack, meta.ReadyCondition)).To(ContainSubstring(text))
		}
	}).Should(Succeed())
}

// destroy deletes the Stack, and expects that what it made is gone.
func (p *project) destroy(stack *v1.Stack) {
	p.test.Helper()
	p.Expect(p.Client().Delete(p.test.Context(), stack)).To(Succeed())
	p.Eventually(func() bool {
		return apierrors.IsNotFound(p.Get(p.test.Context(), keyOf(stack), stack))
	}).Should(BeTrue())
	p.Expect(p.things()).To(BeEmpty())
}

// things returns the values of the things that exist, by their names.
func (p *project) things() (map[string]string, error) {
	all, err := p.cloud.Things()
	values := map[string]string{}
	for _, thing := range all {
		values[thing.Name] = ""
		if thing.Value != nil {
			values[thing.Name] = *thing.Value
		}
	}
	return values, err
}

// output is an output of the Stack as JSON.
func output(stack *v1.Stack, name string) string { return string(stack.Status.Outputs[name].Raw) }

// shownNowhere expects the text neither in an object that the controller writes, nor in its log, nor in the state.
func (p *project) shownNowhere(text string) {
	p.test.Helper()
	var stacks v1.StackList
	var events corev1.EventList
	var configMaps corev1.ConfigMapList
	for _, list := range []client.ObjectList{&stacks, &events, &configMaps} {
		p.Expect(p.List(p.test.Context(), list, client.InNamespace(p.namespace))).To(Succeed())
		written, err := yaml.Marshal(list)
		p.Expect(err).NotTo(HaveOccurred())
		p.Expect(string(written)).NotTo(ContainSubstring(text))
	}
	log, err := os.ReadFile(p.ControllerLog())
	p.Expect(err).NotTo(HaveOccurred())
	p.Expect(string(log)).To(ContainSubstring(p.namespace), "it is the log")
	p.Expect(string(log)).NotTo(ContainSubstring(text))
	state, err := sources.ReadDir(filepath.Join(p.dir, "backend"))
	p.Expect(err).NotTo(HaveOccurred())
	for name, content := range state {
		p.Expect(content).NotTo(ContainSubstring(text), name)
	}
}

// files reads a program of testdata, and replaces files in it.
func files(t *testing.T, program string, replaced ...sources.Files) sources.Files {
	t.Helper()
	all, err := sources.ReadDir(filepath.Join("testdata", program))
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	for _, some := range replaced {
		maps.Copy(all, some)
	}
	return all
}

// both has the files of both, the second ones if they are in both.
func both(first, second sources.Files) sources.Files {
	all := maps.Clone(first)
	maps.Copy(all, second)
	return all
}
