// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/process"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
	"github.com/flux-pulumi/pulumi-controller/tests/sources"
)

// TestPoliciesGuardTheRunsOfPods follows a Stack from a violation to a pack whose language the image lacks. The pack is an
// executable from git.
func TestPoliciesGuardTheRunsOfPods(t *testing.T) {
	short.Skip(t)
	u := newTeam(t)
	analyzer, err := process.FindBin("lab/pulumi-analyzer-lab")
	u.Expect(err).NotTo(HaveOccurred())
	text, err := os.ReadFile(analyzer)
	u.Expect(err).NotTo(HaveOccurred())
	packs := u.repository("policies", sources.Files{
		"PulumiPolicy.yaml": "runtime: {name: go, options: {binary: pulumi-analyzer-lab}}\n", "pulumi-analyzer-lab": string(text),
	})
	set := &v1.PolicySet{ObjectMeta: metav1.ObjectMeta{Name: u.namespace}, Spec: v1.PolicySetSpec{
		NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: u.namespace}},
		Packs:             []v1.PolicyPack{{Name: "lab", SourceRef: v1.PolicySourceReference{Kind: sourcev1.GitRepositoryKind, Name: "policies", Namespace: u.namespace}}},
	}}
	u.Expect(u.Client().Create(u.ctx, set)).To(Succeed())
	t.Cleanup(func() { u.Expect(u.Client().Delete(context.Background(), set)).To(Succeed()) })

	program := u.program("app", thing("forbidden"))
	stack := u.stack("app", func(s *v1.Stack) { s.Spec.RetryInterval = &metav1.Duration{Duration: time.Hour} })
	u.awaitMessage(stack, v1.PolicyViolationReason, "policy no-forbidden-values of pack lab in PolicySet "+set.Name)
	u.awaitCompliant(stack, metav1.ConditionFalse, "no-forbidden-values")
	u.Expect(u.count("create", "begin")).To(BeZero(), "nothing is made")

	edit(u, program, func(p *v1.Program) { u.setProgram(p, thing("one")) })
	u.awaitReady(stack, "one")
	u.awaitCompliant(stack, metav1.ConditionTrue, "")
	updates := u.operations()["update"]

	edit(u, set, func(s *v1.PolicySet) {
		s.Spec.Packs[0].Config = map[string]apiextensionsv1.JSON{"few-things": {Raw: []byte(`{"enforcementLevel": "mandatory", "most": 0}`)}}
	})
	u.awaitCompliant(stack, metav1.ConditionFalse, "few-things")
	u.Expect(u.operations()).To(And(HaveKey("check-policies"), HaveKeyWithValue("update", updates)), "a pod checks, and none updates")
	u.Expect(conditions.IsReady(stack)).To(BeTrue(), conditions.GetMessage(stack, meta.ReadyCondition))

	_, err = packs.Commit(u.ctx, sources.Files{"PulumiPolicy.yaml": "runtime: nodejs\n"}, "another language")
	u.Expect(err).NotTo(HaveOccurred())
	u.awaitCompliant(stack, metav1.ConditionUnknown, "it needs pulumi-language-nodejs")
	edit(u, program, func(p *v1.Program) { u.setProgram(p, thing("two")) })
	u.awaitMessage(stack, v1.PolicyPackFailedReason, "policy pack lab of PolicySet "+set.Name+": it needs pulumi-language-nodejs")
	u.Expect(u.count("update", "begin")).To(BeZero(), "no update is unguarded")
}

// The pack is that of the guide, with the real SDK. npm installs it once, and a volume of the namespace keeps what that brings: also
// for a Program, which needs none.
func TestAPackInTypeScriptGuardsTheRunsOfPods(t *testing.T) {
	short.Skip(t)
	u := newTeam(t)
	modules, err := process.FindBin("nodejs/node_modules")
	if err != nil {
		t.Skip("this machine has no Node.js, or no way to npm's packages")
	}
	root, err := process.RepoRoot()
	u.Expect(err).NotTo(HaveOccurred())
	pack, err := os.ReadFile(filepath.Join(root, "examples", "policies", "tags", "index.ts"))
	u.Expect(err).NotTo(HaveOccurred())
	u.repository("policies", sources.Files{
		"tags/PulumiPolicy.yaml": "runtime: nodejs\nversion: 1.0.0\n",
		"tags/package.json":      `{"name": "tags", "version": "1.0.0", "scripts": {"postinstall": "ln -sfn ` + modules + ` node_modules"}}`,
		"tags/index.ts":          strings.ReplaceAll(string(pack), "aws:s3/bucket:Bucket", "lab:index:Thing"),
	})
	set := &v1.PolicySet{ObjectMeta: metav1.ObjectMeta{Name: u.namespace}, Spec: v1.PolicySetSpec{
		NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: u.namespace}},
		Packs: []v1.PolicyPack{{
			Name: "tags", Dir: "tags", SourceRef: v1.PolicySourceReference{Kind: sourcev1.GitRepositoryKind, Name: "policies", Namespace: u.namespace},
			Config: map[string]apiextensionsv1.JSON{"required-tags": {Raw: []byte(`{"tags": ["owner"]}`)}},
		}},
	}}
	u.Expect(u.Client().Create(u.ctx, set)).To(Succeed())
	t.Cleanup(func() { u.Expect(u.Client().Delete(context.Background(), set)).To(Succeed()) })

	volume := u.kubelet.Claim(u.namespace, "dependencies")
	program := u.program("app", thing("one"))
	stack := u.stack("app", func(s *v1.Stack) {
		s.Spec.RetryInterval = &metav1.Duration{Duration: time.Hour}
		s.Spec.WorkspaceTemplate = u.podWith(map[string]any{"image": nodeImage}, u.withDependencies())
	})
	u.awaitMessage(stack, v1.PolicyViolationReason, "policy required-tags of pack tags in PolicySet "+set.Name, "the tag owner is missing")
	u.Expect(u.count("create", "begin")).To(BeZero(), "nothing is made")
	title := "policy pack tags of PolicySet " + set.Name + ": "
	u.Expect(u.logs()).To(And(ContainSubstring(title+"installed the dependencies"), Not(ContainSubstring("from a snapshot"))))
	u.Expect(filepath.Glob(filepath.Join(volume, u.namespace+".*", "*"))).To(HaveLen(1), "what is kept")

	edit(u, program, func(p *v1.Program) { u.setProgram(p, thing("one", "tags: {owner: a}")) })
	u.awaitReady(stack, "one")
	// The pod of the first run may be gone by now.
	u.Expect(strings.Count(u.logs(), title+"installed the dependencies")).To(BeNumerically("<=", 1), "the second run installs nothing")
	u.Expect(u.logs()).To(ContainSubstring(title + "copied the dependencies"))
}

// withDependencies is the part of a pod that mounts the backend, the plugins and the claim with dependencies.
func (t *team) withDependencies() map[string]any {
	return map[string]any{
		"volumes": []map[string]any{
			{"name": "backend", "hostPath": map[string]any{"path": t.backend}},
			{"name": "plugins", "hostPath": map[string]any{"path": t.plugins}},
			{"name": "dependencies", "persistentVolumeClaim": map[string]any{"claimName": "dependencies"}},
		},
		"containers": []map[string]any{{"name": "pulumi", "volumeMounts": []map[string]any{
			{"name": "backend", "mountPath": t.backend}, {"name": "plugins", "mountPath": "/pulumi-plugins"},
			{"name": "dependencies", "mountPath": "/pulumi-dependencies"},
		}}},
	}
}

// awaitCompliant waits for the result of a check of policies.
func (t *team) awaitCompliant(stack *v1.Stack, status metav1.ConditionStatus, text string) {
	t.test.Helper()
	t.await(stack, func(g Gomega, s *v1.Stack) {
		g.Expect(conditions.Get(s, v1.CompliantCondition)).To(And(HaveField("Status", status), HaveField("Message", ContainSubstring(text))))
	})
}

// repository commits the files to a new repository, which a GitRepository of this name follows.
func (t *team) repository(name string, files sources.Files) *sources.GitRepo {
	t.test.Helper()
	repo, err := t.git.NewRepo(t.ctx, t.namespace+"-"+name)
	t.Expect(err).NotTo(HaveOccurred())
	_, err = repo.Commit(t.ctx, files, "a commit")
	t.Expect(err).NotTo(HaveOccurred())
	t.Expect(t.Client().Create(t.ctx, &sourcev1.GitRepository{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: t.namespace},
		Spec: sourcev1.GitRepositorySpec{URL: repo.URL(), Interval: metav1.Duration{Duration: time.Second},
			Reference: &sourcev1.GitRepositoryRef{Branch: sources.Branch}},
	})).To(Succeed())
	return repo
}
