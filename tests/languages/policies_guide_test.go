// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package languages

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/manifests"
	"github.com/flux-pulumi/pulumi-controller/tests/process"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
	"github.com/flux-pulumi/pulumi-controller/tests/sources"
)

// policyGuide is a platform team that follows the guide to policies, and a Stack that its PolicySet selects.
type policyGuide struct {
	*guide
	stack *v1.Stack
	// printed is what each block of commands has printed.
	printed []string
}

// TestTheGuideToPolicies types each command of the guide: a pack is written and tested, it warns, it is enforced, and its level is
// changed.
func TestTheGuideToPolicies(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	needsNode(t)
	u := newPolicyGuide(t)
	for _, block := range u.blocks {
		switch file := fileOf.FindStringSubmatch(block.Before); {
		case block.Language == "sh":
			u.printed = append(u.printed, u.types(u.onThisMachine(block.Text)))
		case block.Language == "console" && strings.Contains(block.Text, "get policysets"):
			u.showsWhoViolates(block)
		case block.Language == "console":
			u.enforces(block)
		case strings.Contains(block.Text, "kind: "):
			u.applies(block)
		case file != nil && strings.HasPrefix(file[1], "tags/"):
			u.saves(block)
		}
	}
	u.awaitReady(u.stack) // the policy is advisory by now
	u.Expect(u.awaitCompliant(u.stack, metav1.ConditionTrue)).To(Equal([]string{"tags/required-tags assets: the tag cost-center is missing"}))

	u.Expect(u.printed).To(HaveLen(4))
	u.Expect(u.printed[1]).To(ContainSubstring("policy pack tags: 0 violations of mandatory policies"), "the program has the tag that is the default")
	u.Expect(u.printed[2]).To(And(
		MatchRegexp(`(?m)^`+u.namespace+` +assets +.*required-tags`),
		MatchRegexp(`(?m)^`+u.namespace+`/tags/required-tags: urn:pulumi:\S+::assets: Buckets have tags\.\nthe tag cost-center is missing$`),
	))
	u.Expect(u.printed[3]).To(ContainSubstring("Packs are ready: tags (main@sha1:"))
	u.Expect(u.types("flux pulumi debug stack assets -n " + u.namespace)).To(ContainSubstring(u.namespace))
}

// newPolicyGuide prepares what the guide takes for granted: a repository of the platform team, a clone of a program, and a Stack in
// production.
func newPolicyGuide(t *testing.T) *policyGuide {
	t.Helper()
	u := &policyGuide{guide: newGuide(t, "policies.md", sources.Files{"README.md": "# Policies\n"})}
	registry := newPublicRegistry(t)
	registry.publishSDK(t)
	u.here = []string{
		"https://github.com/example/policies", u.repo.URL(), "flux-system", u.namespace, "stage: production", "stage: " + u.namespace,
		"name: production", "name: " + u.namespace, "policyset production", "policyset " + u.namespace, "PolicySet production", "PolicySet " + u.namespace,
	}
	u.hasProvider()
	u.env = append(u.env, "npm_config_registry="+registry.URL)
	program := buckets("eu-west-1", `tags: { owner: "web" }`, allBlocked)
	for name, text := range program {
		u.Expect(os.MkdirAll(filepath.Join(u.home, "network"), 0o755)).To(Succeed())
		u.Expect(os.WriteFile(filepath.Join(u.home, "network", name), []byte(text), 0o644)).To(Succeed())
	}

	var err error
	u.repo, err = u.git.NewRepo(t.Context(), u.namespace+"-network") // from here on, commits are those of the program
	u.Expect(err).NotTo(HaveOccurred())
	u.commit(program)
	u.source = &sourcev1.GitRepository{
		ObjectMeta: metav1.ObjectMeta{Name: "app"},
		Spec: sourcev1.GitRepositorySpec{
			URL: u.repo.URL(), Interval: metav1.Duration{Duration: time.Hour}, Reference: &sourcev1.GitRepositoryRef{Branch: sources.Branch},
		},
	}
	u.apply(u.source)
	u.stack = u.project.stack(func(s *v1.StackSpec) { s.Stack, s.EnvRefs["STAND_IN_CLOUD"] = "assets", literal(u.place()) })
	u.awaitReady(u.stack)
	u.types("kubectl label namespace " + u.namespace + " stage=" + u.namespace)
	t.Cleanup(func() {
		set := &v1.PolicySet{ObjectMeta: metav1.ObjectMeta{Name: u.namespace}}
		u.Expect(client.IgnoreNotFound(u.Client().Delete(context.Background(), set))).To(Succeed())
	})
	return u
}

// hasProvider lets the person preview programs for AWS.
func (u *policyGuide) hasProvider() {
	u.test.Helper()
	provider, err := process.FindBin(filepath.Join("lab", "pulumi-resource-standin"))
	u.Expect(err).NotTo(HaveOccurred())
	plugin := filepath.Join(u.home, ".pulumi", "plugins", "resource-aws-v5.42.0")
	u.Expect(os.MkdirAll(plugin, 0o755)).To(Succeed())
	u.Expect(os.Symlink(provider, filepath.Join(plugin, "pulumi-resource-aws"))).To(Succeed())
	u.Expect(os.Symlink(u.Path("node_modules"), filepath.Join(u.home, "node_modules"))).To(Succeed())
	u.env = append(u.env, "PULUMI_HOME="+filepath.Join(u.home, ".pulumi"), "STAND_IN_CLOUD="+filepath.Join(u.home, "cloud"), "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION=true")
}

// applies applies a manifest, as the Kustomization of the platform team would.
func (u *policyGuide) applies(block manifests.Block) {
	u.test.Helper()
	file := filepath.Join(u.home, "policies.yaml")
	u.Expect(os.WriteFile(file, []byte(u.onThisMachine(block.Text)), 0o644)).To(Succeed())
	u.types("kubectl apply -f ../policies.yaml")
	if strings.Contains(block.Text, "enforcement: Warn") {
		printed, err := u.tries("flux pulumi policy test tags --program ../network --policyset ../policies.yaml")
		u.Expect(err).To(HaveOccurred(), "a mandatory policy is violated")
		u.Expect(printed).To(ContainSubstring("Buckets have tags. the tag cost-center is missing"))
	}
}

// showsWhoViolates waits until the Stack is checked. The page shows more Stacks.
func (u *policyGuide) showsWhoViolates(block manifests.Block) {
	u.test.Helper()
	typed := strings.Split(block.Text, "\n")
	ofPage := strings.Split(u.likeOnThePage(typed[2]), " ")
	u.Eventually(func(g Gomega) {
		printed, err := u.tries(strings.TrimPrefix(typed[0], "$ "))
		g.Expect(err).NotTo(HaveOccurred())
		header, rows, _ := strings.Cut(u.likeOnThePage(printed), "\n")
		g.Expect(header).To(Equal(u.likeOnThePage(typed[1])))
		var row []string
		for line := range strings.Lines(rows) {
			if fields := strings.Fields(line); fields[0] == guideNamespace {
				row = fields
			}
		}
		g.Expect(row).To(Equal(slices.Concat([]string{guideNamespace, "Warn", "1", "1", "0"}, ofPage[5:])))
	}).WithTimeout(10 * time.Minute).WithPolling(time.Second).Should(Succeed()) // the packages of the pack are installed first
}

// enforces enforces the policies, and commits a program that still violates one.
func (u *policyGuide) enforces(block manifests.Block) {
	u.test.Helper()
	u.types("sed -i 's/enforcement: Warn/enforcement: Enforce/' ../policies.yaml && kubectl apply -f ../policies.yaml")
	u.Eventually(func(g Gomega) {
		set := &v1.PolicySet{ObjectMeta: metav1.ObjectMeta{Name: u.namespace}}
		g.Expect(u.Get(u.test.Context(), keyOf(set), set)).To(Succeed())
		g.Expect(set.Status.ObservedGeneration).To(Equal(set.Generation))
	}).Should(Succeed())
	before, err := u.things()
	u.Expect(err).NotTo(HaveOccurred())
	u.commit(buckets("eu-west-1", `tags: { owner: "network" }`, allBlocked))
	u.Eventually(func(g Gomega) {
		g.Expect(u.Get(u.test.Context(), keyOf(u.stack), u.stack)).To(Succeed())
		g.Expect(conditions.GetReason(u.stack, meta.ReadyCondition)).To(Equal(v1.PolicyViolationReason))
	}).Should(Succeed())
	u.Expect(u.things()).To(Equal(before), "nothing is changed")
	lines := strings.Split(strings.TrimSpace(block.Text), "\n")
	shown := strings.Fields(u.onThisMachine(lines[2]))[2:] // its age is another
	printed := strings.Split(strings.TrimSpace(u.types(u.onThisMachine(strings.TrimPrefix(lines[0], "$ ")))), "\n")
	u.Expect(strings.Fields(printed[0])).To(Equal(strings.Fields(lines[1])))
	u.Expect(strings.Join(strings.Fields(printed[1])[2:], " ")).To(HavePrefix(strings.TrimSuffix(strings.Join(shown, " "), "...")))
}
