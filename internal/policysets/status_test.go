// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package policysets

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/policy"
	"github.com/flux-pulumi/pulumi-controller/internal/policy/packs"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/source"
)

func TestPolicySetStatus(t *testing.T) {
	pack := run.PolicyPack{Set: "set", Name: "aws", Revision: "main@sha1:4e1c", Artifact: run.Artifact{Digest: "sha256:a"}}
	for name, test := range map[string]struct {
		found           foundPacks
		reason, message string
		stalled         bool
	}{
		"ready":                      {foundPacks{packs: []run.PolicyPack{pack}}, meta.SucceededReason, "Packs are ready: aws (main@sha1:4e1c)", false},
		"without an artifact":        {foundPacks{problem: errors.New("no artifact")}, meta.ArtifactFailedReason, "no artifact", false},
		"without the ConfigMap":      {foundPacks{problem: fmt.Errorf("pack: %w", &packs.ConfigError{Err: errors.New("not found")})}, v1.InputsFailedReason, "pack: not found", false},
		"with an invalid selector":   {foundPacks{packs: []run.PolicyPack{pack}, problem: errors.New("bad"), invalid: true}, v1.InvalidSpecReason, "bad", true},
		"with a message of any size": {foundPacks{problem: errors.New(strings.Repeat("a", 1<<20))}, meta.ArtifactFailedReason, "aaa", false},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			set := &v1.PolicySet{}
			set.Generation = 3
			conditions.MarkStalled(set, v1.InvalidSpecReason, "before")
			digest, err := test.found.digest()
			g.Expect(err).NotTo(HaveOccurred())
			markPolicySet(set, test.found, digest, policy.Report{Stacks: 2, Unchecked: 1})
			g.Expect(conditions.GetReason(set, meta.ReadyCondition)).To(Equal(test.reason))
			g.Expect(conditions.GetMessage(set, meta.ReadyCondition)).To(ContainSubstring(test.message))
			g.Expect(len(conditions.GetMessage(set, meta.ReadyCondition))).To(BeNumerically("<", 2048))
			g.Expect(conditions.IsReady(set)).To(Equal(test.found.problem == nil))
			g.Expect(conditions.IsStalled(set)).To(Equal(test.stalled))
			g.Expect(set.Status.Digest == "").To(Equal(test.found.problem != nil), "what violates packs of which one is missing is not known")
			g.Expect(set.Status.ObservedGeneration).To(Equal(int64(3)))
			g.Expect(set.Status.Unchecked).To(Equal(int32(1)))
		})
	}
}

// forbidding denies reading.
type forbidding struct{ client.Reader }

func (forbidding) Get(_ context.Context, key client.ObjectKey, _ client.Object, _ ...client.GetOption) error {
	return apierrors.NewForbidden(schema.GroupResource{Resource: "configmaps"}, key.Name, errors.New("no"))
}

// oneSource resolves each reference to the same artifact.
type oneSource struct{}

func (oneSource) Resolve(context.Context, string, v1.SourceReference) (*source.Source, error) {
	return &source.Source{Revision: "main@sha256:1", Digest: "sha256:1", URL: "http://sources/guard"}, nil
}

func TestAConfigMapThatMayNotBeReadIsNoProblemOfASource(t *testing.T) {
	g := NewWithT(t)
	set := &v1.PolicySet{Spec: v1.PolicySetSpec{Packs: []v1.PolicyPack{{
		Name: "tags", SourceRef: v1.PolicySourceReference{Kind: "GitRepository", Name: "guard", Namespace: "platform"},
		ConfigFrom: &v1.PolicyConfigReference{ConfigMap: v1.PolicyConfigMapReference{Name: "config", Namespace: "platform", Key: "policies"}},
	}}}}
	set.Name = "guard"
	found, err := (&Reconciler{APIReader: forbidding{}, Sources: oneSource{}}).findPacks(t.Context(), set)
	g.Expect(err).NotTo(HaveOccurred())
	markPolicySet(set, found, "", policy.Report{})
	g.Expect(conditions.Get(set, meta.ReadyCondition)).To(And(HaveField("Reason", v1.InputsFailedReason),
		HaveField("Message", And(ContainSubstring("pack tags of PolicySet guard"), ContainSubstring("ConfigMap platform/config"), ContainSubstring("is forbidden")))))
	g.Expect(conditions.IsStalled(set)).To(BeFalse(), "a right can be granted without an edit")
}

func TestViolationEvent(t *testing.T) {
	of := func(violating int32, unchecked int32, listed ...v1.ViolatingStack) v1.PolicySetStatus {
		return v1.PolicySetStatus{Stacks: 20, Violating: violating, Unchecked: unchecked, ViolatingStacks: listed}
	}
	a := v1.ViolatingStack{Namespace: "n", Name: "a", Policies: []string{"aws/tags"}}
	more := v1.ViolatingStack{Namespace: "n", Name: "a", Policies: []string{"aws/names", "aws/tags"}}
	b := v1.ViolatingStack{Namespace: "n", Name: "b", Policies: []string{"aws/tags"}}
	for name, test := range map[string]struct {
		before, after v1.PolicySetStatus
		kind, message string
	}{
		"nothing":                   {of(0, 3), of(0, 2), "", ""},
		"the same":                  {of(1, 3, a), of(1, 0, a), "", ""},
		"one":                       {of(0, 1), of(1, 0, a), corev1.EventTypeWarning, "1 of 20 Stacks violates mandatory policies: n/a (aws/tags)"},
		"another in its place":      {of(1, 0, a), of(1, 0, b), corev1.EventTypeWarning, "n/b (aws/tags)"},
		"another policy":            {of(1, 0, a), of(1, 0, more), corev1.EventTypeWarning, "n/a (aws/names, aws/tags)"},
		"one fewer":                 {of(2, 2, a, b), of(1, 1, b), corev1.EventTypeNormal, "1 of 20 Stacks violates mandatory policies: n/b (aws/tags); 1 Stack is not checked with the current packs yet"},
		"none any more":             {of(1, 0, a), of(0, 2), corev1.EventTypeNormal, "No Stack violates mandatory policies any more; 2 Stacks are not checked with the current packs yet"},
		"more than are listed":      {of(1, 0, a), of(7, 0, a, b), corev1.EventTypeWarning, " and 5 more"},
		"one fewer than are listed": {of(7, 0, a), of(6, 0, b), corev1.EventTypeNormal, " and 5 more"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			event, changed := violationEvent(test.before, test.after)
			g.Expect(changed).To(Equal(test.kind != ""))
			g.Expect(event.Type).To(Equal(test.kind))
			g.Expect(event.Message).To(ContainSubstring(test.message))
		})
	}
}
