// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/fluxcd/pkg/apis/meta"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/controlplane"
	"github.com/flux-pulumi/pulumi-controller/tests/sources"
)

// lazyFluxOperator is the flux-operator of the tests of pull requests. The first of them starts it.
type lazyFluxOperator struct {
	start    sync.Once
	operator *controlplane.FluxOperator
	err      error
}

func (l *lazyFluxOperator) started(plane *controlplane.ControlPlane, dir string) error {
	l.start.Do(func() {
		if l.err = os.MkdirAll(dir, 0o755); l.err == nil {
			l.operator, l.err = controlplane.StartFluxOperator(context.Background(), plane, controlplane.FluxOperatorOptions{Dir: dir}) // until stop
		}
	})
	return l.err
}

func (l *lazyFluxOperator) stop() error {
	if l.operator == nil {
		return nil
	}
	return l.operator.Stop()
}

// reviewed is a tenant whose repository is reviewed on a forge, as examples/pull-requests has it. The Stack network is of
// the tenant's namespace, and the previews have another.
type reviewed struct {
	*tenant
	previews *tenant
	forge    *forge
	repo     *sources.GitRepo
	work     map[int]*sources.GitRepo // by number of the pull request
	program  string
	stack    *v1.Stack
}

// newReviewed applies the example for a kind of forge, and the main branch.
func newReviewed(t *testing.T, d dialect) *reviewed {
	t.Helper()
	return newReviewedIn(t, shared, d)
}

// newReviewedIn does the same in another world, which has a flux-operator.
func newReviewedIn(t *testing.T, w *world, d dialect) *reviewed {
	t.Helper()
	u := newTenant(t, w)
	u.Expect(w.fluxOperator.started(u.ControlPlane, filepath.Join(w.dir, "flux-operator"))).To(Succeed())
	r := &reviewed{tenant: u, work: map[int]*sources.GitRepo{}, program: u.exampleFiles("pull-requests/network")["Pulumi.yaml"]}
	for _, name := range []string{"previews", "pull-requests"} {
		u.Expect(u.Create(u.ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: r.placeOf(name)}})).To(Succeed())
	}
	r.previews = moveInto(t, w, r.placeOf("previews"))
	r.previews.backend, r.previews.place, r.previews.cloud = u.backend, u.place, u.cloud
	t.Cleanup(r.previews.leave)
	t.Cleanup(r.endReviews)
	r.repo, _ = u.repository(r.files(r.program))
	r.forge = u.forgeOf(d, r.repo)
	for _, file := range []string{"namespaces", "secrets", d.statuses, "resourceset", "alerts", "stack"} {
		for _, object := range u.objectsOf(u.inExamples("pull-requests/" + file + ".yaml")) {
			if object.GetKind() != "Namespace" {
				u.Expect(u.Create(u.ctx, r.adapted(object))).To(Succeed())
			}
		}
	}
	r.stack = &v1.Stack{ObjectMeta: metav1.ObjectMeta{Name: "network", Namespace: u.namespace}}
	r.annotate(r.stack, v1.ApprovedByAnnotation, "jane")
	r.annotate(r.stack, v1.ApproveAnnotation, r.awaitProposal(r.stack, "").Digest)
	r.awaitReady(r.stack)
	return r
}

// files are those of the repository with the program.
func (r *reviewed) files(program string) sources.Files {
	return sources.Files{"network/Pulumi.yaml": program}
}

// placeOf is the namespace in place of that of the example.
func (r *reviewed) placeOf(namespace string) string {
	if namespace == "apps" {
		return r.namespace
	}
	return r.namespace + "-" + namespace[:4] // a name has 63 characters
}

// adapted sets in a manifest of the example what its README has users set, also in a template. The test looks by itself, has
// a passphrase and a cloud in place of KMS, and runs no Jobs.
func (r *reviewed) adapted(object *unstructured.Unstructured) *unstructured.Unstructured {
	r.adapt(object.Object)
	return object
}

func (r *reviewed) adapt(value any) {
	switch value := value.(type) {
	case []any:
		for _, item := range value {
			r.adapt(item)
		}
	case map[string]any:
		r.adaptMap(value)
		for _, item := range value {
			r.adapt(item)
		}
	}
}

func (r *reviewed) adaptMap(object map[string]any) {
	delete(object, "secretsProvider")
	delete(object, "workspaceTemplate")
	for field, value := range object {
		text, isText := value.(string)
		switch {
		case isText && field == "namespace":
			object[field] = r.placeOf(text)
		case field == "previewNamespaces":
			object[field] = []any{r.placeOf("previews")}
		case isText && strings.HasSuffix(text, "/acme/infra"):
			object[field] = r.forge.url
		case field == "backend":
			object[field] = r.backendURL()
		case field == "interval" || field == "fluxcd.controlplane.io/reconcileEvery":
			object[field] = "1h"
		case text == "change-me":
			object[field] = "t0ken"
		}
	}
	if spec, isSpec := object["spec"].(map[string]any); isSpec && object["kind"] == v1.StackKind {
		spec["envRefs"] = map[string]any{
			"PULUMI_CONFIG_PASSPHRASE": map[string]any{"type": "Literal", "literal": map[string]any{"value": passphrase}},
			"STAND_IN_CLOUD":           map[string]any{"type": "Literal", "literal": map[string]any{"value": r.place}},
		}
	}
}

// endReviews removes what makes previews.
func (r *reviewed) endReviews() {
	for kind, name := range map[string]string{"ResourceSet": "network", "ResourceSetInputProvider": "infra"} {
		if err := client.IgnoreNotFound(r.Client().Delete(context.Background(), r.ofFluxOperator(kind, name))); err != nil {
			r.test.Errorf("deleting %s %s: %v", kind, name, err)
		}
	}
}

func (r *reviewed) ofFluxOperator(kind, name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "fluxcd.controlplane.io/v1", "kind": kind,
		"metadata": map[string]any{"name": name, "namespace": r.placeOf("pull-requests")},
	}}
}

// looks has flux-operator look at the forge, as a webhook or its interval does, and at what has come of it.
func (r *reviewed) looks() {
	r.test.Helper()
	for _, object := range []*unstructured.Unstructured{r.ofFluxOperator("ResourceSetInputProvider", "infra"), r.ofFluxOperator("ResourceSet", "network")} {
		token := request(r.tenant, object)
		r.Eventually(func(g Gomega) {
			g.Expect(r.Get(r.ctx, keyOf(object), object)).To(Succeed())
			handled, _, err := unstructured.NestedString(object.Object, "status", "lastHandledReconcileAt")
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(handled).To(Equal(token), "%v", object.Object["status"])
			g.Expect(readyOf(object)).To(Equal("True"), "%v", object.Object["status"])
		}).Should(Succeed())
	}
}

// readyOf is the status of the condition Ready.
func readyOf(object *unstructured.Unstructured) string {
	all, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions") // none is none
	for _, one := range all {
		if condition, ok := one.(map[string]any); ok && condition["type"] == meta.ReadyCondition {
			return fmt.Sprint(condition["status"])
		}
	}
	return ""
}

// opens opens a pull request for a branch with the program, without a label. Its title is an attack on whoever puts it
// into a template.
func (r *reviewed) opens(branch, program string) *pull {
	r.test.Helper()
	return r.opensOf(r.repo.Branch, branch, program)
}

// opensOf opens one whose commits come from a branch or a fork.
func (r *reviewed) opensOf(from func(context.Context, string) (*sources.GitRepo, error), branch, program string) *pull {
	r.test.Helper()
	work, err := from(r.ctx, branch)
	r.Expect(err).NotTo(HaveOccurred())
	p := &pull{
		number: len(r.forge.pulls) + 1, author: "jane", branch: branch,
		title: "Change \"it\"\n      suspend: true\n---\nkind: Namespace << inputs.sha >> @everyone",
	}
	r.work[p.number] = work
	r.forge.mu.Lock()
	r.forge.pulls = append(r.forge.pulls, p)
	r.forge.mu.Unlock()
	r.pushes(p, r.files(program))
	return p
}

// pushes pushes a commit to a pull request, and returns it.
func (r *reviewed) pushes(p *pull, files sources.Files) string {
	r.test.Helper()
	commit := r.commitTo(r.work[p.number], files)
	r.Expect(r.repo.SetRef(r.ctx, fmt.Sprintf(r.forge.dialect.head, p.number), commit)).To(Succeed())
	r.forge.set(p.number, func(p *pull) { p.commit = commit })
	return commit
}

// forcePushes has the branch of a pull request be an earlier commit of it.
func (r *reviewed) forcePushes(p *pull, commit string) {
	r.test.Helper()
	r.Expect(r.repo.SetRef(r.ctx, "refs/heads/"+p.branch, commit)).To(Succeed())
	r.Expect(r.repo.SetRef(r.ctx, fmt.Sprintf(r.forge.dialect.head, p.number), commit)).To(Succeed())
	r.forge.set(p.number, func(p *pull) { p.commit = commit })
	r.looks()
}

// labels lets the preview of a pull request run.
func (r *reviewed) labels(p *pull) {
	r.forge.set(p.number, func(p *pull) { p.labels = []string{"preview"} })
}

// closes closes a pull request without a merge.
func (r *reviewed) closes(p *pull) { r.forge.set(p.number, func(p *pull) { p.closed = true }) }

// merges merges a pull request, and has the source of the main branch look. It returns the revision.
func (r *reviewed) merges(p *pull) (revision string) {
	r.test.Helper()
	merged, err := r.repo.Merge(r.ctx, p.commit, "merge "+p.branch)
	r.Expect(err).NotTo(HaveOccurred())
	r.closes(p)
	r.forge.set(p.number, func(p *pull) { p.merged = merged })
	return revisionOf(merged)
}

// preview is the Stack of a pull request.
func (r *reviewed) preview(p *pull) *v1.Stack {
	return &v1.Stack{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("network-pr-%d", p.number), Namespace: r.previews.namespace}}
}

// awaitComment waits until the one comment on a pull request has these texts, and returns it.
func (r *reviewed) awaitComment(p *pull, texts ...string) (text string) {
	r.test.Helper()
	r.Eventually(func(g Gomega) {
		comments := r.forge.on(p.number)
		g.Expect(comments).To(HaveLen(1))
		text = comments[0].text()
		g.Expect(text).To(hasAll(texts))
	}).Should(Succeed())
	return text
}

// awaitVerdict waits until this is the newest status of a commit.
func (r *reviewed) awaitVerdict(commit, state string) {
	r.test.Helper()
	r.Eventually(func(g Gomega) {
		statuses := r.forge.of(commit)
		g.Expect(statuses).NotTo(BeEmpty())
		g.Expect(statuses[0]).To(And(HaveField("State", state), HaveField("Context", "pulumi/network")))
	}).Should(Succeed())
}

// kept is what previews must not change: each file of the backend, and what has happened in the cloud.
func (r *reviewed) kept() map[string]string {
	r.test.Helper()
	kept := map[string]string{"the cloud": strings.Join(r.journal(r), "\n")}
	err := filepath.WalkDir(r.backend, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		kept[path] = string(text)
		return err
	})
	r.Expect(err).NotTo(HaveOccurred())
	return kept
}
