// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package languages

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/manifests"
	"github.com/flux-pulumi/pulumi-controller/tests/process"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
	"github.com/flux-pulumi/pulumi-controller/tests/sources"
)

// TestThePacksOfTheExample has the PolicySet of examples/policies guard a program that violates all of its policies: it warns, then
// it is enforced, then the program is corrected.
func TestThePacksOfTheExample(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	needsNode(t)
	p := newProject(t, buckets("us-east-1", "acl: \"public-read\", tags: { owner: \"web\" }", "blockPublicAcls: true, ignorePublicAcls: true, restrictPublicBuckets: true"))
	set, registry := p.guardedByTheExample()
	stack := p.stack(func(s *v1.StackSpec) {
		s.EnvRefs["STAND_IN_CLOUD"] = literal(p.place())
	})
	p.awaitReady(stack)
	p.Expect(p.awaitCompliant(stack, metav1.ConditionFalse)).To(ConsistOf(
		"tags/required-tags assets: the tag cost-center is missing",
		"public-buckets/no-public-acl assets: the ACL public-read lets others read it: remove it",
		"public-buckets/public-access-block block: blockPublicPolicy must be true",
		"regions/allowed-regions default: the region us-east-1 is not allowed, only eu-central-1, eu-west-1",
	))
	installed := registry.Downloads.Load()
	p.Expect(installed).To(BeNumerically(">", 0))
	before, err := p.things()
	p.Expect(err).NotTo(HaveOccurred())

	p.Expect(p.Patch(t.Context(), set, client.RawPatch("application/merge-patch+json", []byte(`{"spec": {"enforcement": "Enforce"}}`)))).To(Succeed())
	p.commit(buckets("eu-west-1", "acl: \"public-read-write\", tags: { owner: \"web\", \"cost-center\": \"a\" }", allBlocked))
	p.Eventually(func(g Gomega) {
		g.Expect(p.Get(t.Context(), keyOf(stack), stack)).To(Succeed())
		ready := conditions.Get(stack, meta.ReadyCondition)
		g.Expect(ready).To(HaveField("Reason", v1.PolicyViolationReason), "%v", ready)
		g.Expect(ready.Message).To(ContainSubstring("policy no-public-acl of pack public-buckets in PolicySet " + set.Name))
	}).Should(Succeed())
	p.Expect(p.things()).To(Equal(before), "nothing is changed")

	p.commit(buckets("eu-west-1", "tags: { owner: \"web\", \"cost-center\": \"a\" }", allBlocked))
	p.awaitReady(stack)
	p.Expect(p.awaitCompliant(stack, metav1.ConditionTrue)).To(BeEmpty())
	p.Expect(registry.Downloads.Load()).To(Equal(installed), "the packages of the packs were installed once, for all runs")
	p.destroy(stack)
}

const allBlocked = "blockPublicAcls: true, blockPublicPolicy: true, ignorePublicAcls: true, restrictPublicBuckets: true"

// buckets is a program with a bucket and its public access block.
func buckets(region, ofBucket, ofBlock string) sources.Files {
	return sources.Files{
		"Pulumi.yaml": "name: app\nruntime: nodejs\nconfig:\n  aws:region: {value: " + region + "}\n",
		"index.js": `"use strict";
const { CustomResource } = require("@pulumi/pulumi");
const assets = new CustomResource("aws:s3/bucket:Bucket", "assets", { ` + ofBucket + ` });
new CustomResource("aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock", "block", { bucket: assets.id, ` + ofBlock + ` });
`,
	}
}

// guardedByTheExample applies the example for the namespace of the project, with its packs in a repository, and their packages in a
// registry.
func (p *project) guardedByTheExample() (*v1.PolicySet, *registry) {
	p.test.Helper()
	root, err := process.RepoRoot()
	p.Expect(err).NotTo(HaveOccurred())
	example, err := sources.ReadDir(filepath.Join(root, "examples", "policies"))
	p.Expect(err).NotTo(HaveOccurred())
	page, err := os.ReadFile(filepath.Join(root, "docs", "guides", "policies.md"))
	p.Expect(err).NotTo(HaveOccurred())
	p.Expect(string(page)).To(ContainSubstring(example["tags/index.ts"]), "the guide has the same pack")

	registry := newPublicRegistry(p.test)
	registry.publishSDK(p.test)
	packs, err := p.world.git.NewRepo(p.test.Context(), p.namespace+"-policies")
	p.Expect(err).NotTo(HaveOccurred())
	_, err = packs.Commit(p.test.Context(), both(example, sources.Files{".npmrc": registry.NPMRC()}), "the packs")
	p.Expect(err).NotTo(HaveOccurred())

	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: p.namespace}}
	p.Expect(p.Patch(p.test.Context(), namespace, client.RawPatch("application/merge-patch+json", []byte(`{"metadata": {"labels": {"stage": "production"}}}`)))).To(Succeed())
	text := strings.NewReplacer("flux-system", p.namespace, "https://github.com/example/policies", packs.URL(), "name: aws", "name: "+p.namespace).Replace(example["policies.yaml"])
	objects, err := manifests.Unit{Name: "policies.yaml", Text: text}.Objects()
	p.Expect(err).NotTo(HaveOccurred())
	for _, object := range objects {
		p.Expect(p.Create(p.test.Context(), object)).To(Succeed())
	}
	set := &v1.PolicySet{ObjectMeta: metav1.ObjectMeta{Name: p.namespace}}
	p.test.Cleanup(func() { p.Expect(p.Client().Delete(context.Background(), set)).To(Succeed()) })
	p.Eventually(func(g Gomega) {
		g.Expect(p.Get(p.test.Context(), keyOf(set), set)).To(Succeed())
		g.Expect(conditions.IsReady(set)).To(BeTrue(), "Ready is %v", conditions.Get(set, meta.ReadyCondition))
	}).Should(Succeed())
	return set, registry
}

// awaitCompliant waits for the result of a check of policies, and returns the violations.
func (p *project) awaitCompliant(stack *v1.Stack, status metav1.ConditionStatus) []string {
	p.test.Helper()
	p.Eventually(func(g Gomega) {
		g.Expect(p.Get(p.test.Context(), keyOf(stack), stack)).To(Succeed())
		compliant := conditions.Get(stack, v1.CompliantCondition)
		g.Expect(compliant).To(HaveField("Status", status), "%v", compliant)
	}).WithTimeout(10 * time.Minute).Should(Succeed()) // the packages of three packs are installed first
	var found []string
	for _, v := range stack.Status.Policies.Violations {
		_, said, _ := strings.Cut(v.Message, "\n") // after the description
		found = append(found, v.Pack+"/"+v.Policy+" "+v.Resource[strings.LastIndex(v.Resource, ":")+1:]+": "+said)
	}
	return found
}
