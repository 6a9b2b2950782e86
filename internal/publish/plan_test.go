// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package publish

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/plan"
	"github.com/flux-pulumi/pulumi-controller/internal/plan/details"
)

// planOf returns a plan of that many random bytes at least, within the bounds of plans.
func planOf(bytes int) plan.Plan {
	var p plan.Plan
	for bytes > 0 {
		step := plan.Step{
			Op: plan.OpUpdate, URN: fmt.Sprintf("urn:pulumi:dev::app::lab:index:Thing::a%d", len(p.Steps)), Type: "lab:index:Thing",
		}
		for n := range 10 {
			value := strings.ToLower(rand.Text() + rand.Text() + rand.Text() + rand.Text())
			step.Properties = append(step.Properties, plan.Property{
				Path: fmt.Sprintf("p%d", n), Kind: plan.KindUpdate, Change: plan.Change{New: json.RawMessage(`"` + value + `"`)},
			})
			bytes -= len(value) / 2 // as compressed
		}
		p.Steps = append(p.Steps, step)
	}
	return p
}

func TestPlansAreKeptUntilTheStatusRefersToAnother(t *testing.T) {
	g := NewWithT(t)
	p := planPublisher(t)
	stack := &v1.Stack{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "app", UID: "uid-of-app"}}

	foreign := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "theirs", Labels: map[string]string{planLabel: "uid-of-app"}}}
	g.Expect(p.Client.Create(t.Context(), foreign)).To(Succeed())
	write := func(of plan.Plan) *v1.PlanStatus {
		name, digest, err := p.Plan(t.Context(), stack, of)
		g.Expect(err).NotTo(HaveOccurred())
		return &v1.PlanStatus{ConfigMap: name, ContentDigest: digest}
	}
	kept := func(status *v1.PlanStatus) (count int) {
		for n := range details.MaxParts {
			part := &corev1.ConfigMap{}
			if p.Client.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: details.Name(status.ConfigMap, n)}, part) == nil {
				count++
				g.Expect(metav1.IsControlledBy(part, stack)).To(BeTrue())
				g.Expect(*part.Immutable).To(BeTrue())
			}
		}
		return count
	}
	large, small := planOf(2<<20), planOf(100)
	stack.Status.Plan = write(large)
	g.Expect(kept(stack.Status.Plan)).To(BeNumerically(">", 1))
	g.Expect(write(large)).To(Equal(stack.Status.Plan), "the same plan is there already")
	read, err := p.ReadPlan(t.Context(), stack)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(read.Digest()).To(Equal(large.Digest()))

	next := write(small)
	g.Expect(p.deleteFormerPlans(t.Context(), stack)).To(Succeed())
	g.Expect(kept(stack.Status.Plan)).To(BeNumerically(">", 1), "the status still refers to it")
	g.Expect(kept(next)).To(BeZero(), "as if the status was never written")

	next, former := write(small), stack.Status.Plan
	stack.Status.Plan = next
	g.Expect(p.deleteFormerPlans(t.Context(), stack)).To(Succeed())
	g.Expect(kept(former)).To(BeZero())
	read, err = p.ReadPlan(t.Context(), stack)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(read).To(Equal(small))

	stack.Status.Plan.ContentDigest = former.ContentDigest
	_, err = p.ReadPlan(t.Context(), stack)
	g.Expect(err).To(MatchError(ContainSubstring("was changed by something else")))
	stack.Status.Plan = former
	_, err = p.ReadPlan(t.Context(), stack)
	g.Expect(err).To(MatchError(ContainSubstring("not found")))
	stack.Status.Plan = nil
	_, err = p.ReadPlan(t.Context(), stack)
	g.Expect(err).To(MatchError("the status refers to no plan"))
	g.Expect(p.deleteFormerPlans(t.Context(), stack)).To(Succeed())
	g.Expect(kept(next)).To(BeZero())
	g.Expect(p.Client.Get(t.Context(), client.ObjectKeyFromObject(foreign), foreign)).To(Succeed(), "it belongs to no Stack")
}

func planPublisher(t *testing.T) Publisher {
	t.Helper()
	g, scheme := NewWithT(t), runtime.NewScheme()
	g.Expect(corev1.AddToScheme(scheme)).To(Succeed())
	g.Expect(v1.AddToScheme(scheme)).To(Succeed())
	api := fake.NewClientBuilder().WithScheme(scheme).Build()
	return Publisher{Client: api, Reader: api, Owner: "test"}
}

func TestTheNameOfAPlanEndsInItsPart(t *testing.T) {
	g := NewWithT(t)
	for _, length := range []int{3, 200, 230, 253} {
		stack := &v1.Stack{ObjectMeta: metav1.ObjectMeta{Name: strings.Repeat("a", length)}}
		first := firstPart(stack, "sha256:0123456789abcdef")
		g.Expect(first).To(HaveSuffix("-plan-0123456789-1"))
		g.Expect(validation.IsDNS1123Subdomain(first)).To(BeEmpty())
	}
}
