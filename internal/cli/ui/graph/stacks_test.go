// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

func stack(key string, change func(spec *v1.StackSpec)) *v1.Stack {
	namespace, name, _ := strings.Cut(key, "/")
	made := &v1.Stack{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	made.Spec.ProgramRef = &v1.ProgramReference{Name: name}
	change(&made.Spec)
	return made
}

func fleet() []*v1.Stack {
	secret := func(namespace, name string) v1.ResourceRef {
		return v1.ResourceRef{Type: v1.ResourceRefSecret, Secret: &v1.SecretKeyReference{Namespace: namespace, Name: name, Key: "url"}}
	}
	return []*v1.Stack{
		stack("infra/network", func(spec *v1.StackSpec) {
			spec.ProgramRef, spec.FluxSource = nil, &v1.FluxSource{SourceRef: v1.SourceReference{Kind: "GitRepository", Name: "infra"}}
			spec.WriteOutputsToSecret = &v1.OutputsSecret{Name: "network-outputs"}
			spec.EnvSecrets = []string{"network-outputs"} // its own
		}),
		stack("infra/cluster", func(spec *v1.StackSpec) {
			spec.ProgramRef, spec.FluxSource = nil, &v1.FluxSource{SourceRef: v1.SourceReference{Kind: "GitRepository", Name: "infra"}}
			spec.DependsOn = []v1.DependencyReference{{Name: "network"}}
			spec.EnvRefs = map[string]v1.ResourceRef{"URL": secret("", "network-outputs")}
		}),
		stack("apps/shop", func(spec *v1.StackSpec) {
			spec.DependsOn = []v1.DependencyReference{{Namespace: "infra", Name: "cluster"}, {Name: "absent"}}
			spec.Prerequisites = []v1.PrerequisiteReference{{Name: "search"}}
			spec.SecretsRef = map[string]v1.ResourceRef{"url": secret("infra", "network-outputs")}
		}),
		stack("apps/search", func(*v1.StackSpec) {}),
	}
}

func edgesOf(drawn Graph) (list []string) {
	for _, edge := range drawn.Edges {
		list = append(list, edge.From+" "+edge.Kind+" "+edge.To)
	}
	return list
}

func idsOf(drawn Graph) (list []string) {
	for _, node := range drawn.Nodes {
		list = append(list, node.Kind+" "+node.ID)
	}
	return list
}

func running(*v1.Stack) string { return "running" }

func TestTheGraphOfStacks(t *testing.T) {
	g := NewWithT(t)
	drawn := OfStacks(fleet(), "", running)
	g.Expect(edgesOf(drawn)).To(ConsistOf(
		"GitRepository/infra/infra source Stack/infra/network", "GitRepository/infra/infra source Stack/infra/cluster",
		"Program/apps/shop source Stack/apps/shop", "Program/apps/search source Stack/apps/search",
		"Stack/infra/network dependsOn Stack/infra/cluster", // and also its outputs
		"Stack/infra/network outputs Stack/apps/shop", "Stack/infra/cluster dependsOn Stack/apps/shop",
		"Stack/apps/absent dependsOn Stack/apps/shop", "Stack/apps/search prerequisites Stack/apps/shop"))
	g.Expect(idsOf(drawn)).To(ConsistOf("GitRepository GitRepository/infra/infra", "Program Program/apps/shop", "Program Program/apps/search", "Missing Stack/apps/absent",
		"Stack Stack/infra/network", "Stack Stack/infra/cluster", "Stack Stack/apps/shop", "Stack Stack/apps/search"))
	places := byID(drawn)
	g.Expect(places["Stack/infra/network"].Stack).To(Equal("infra/network"))
	g.Expect(places["Stack/infra/network"].State).To(Equal("running"))
	g.Expect(places["Stack/apps/absent"].Stack).To(BeEmpty(), "there is no such view")
	g.Expect(places["GitRepository/infra/infra"].Label).To(Equal("infra/infra"))
}

func TestTheFocusIsOnWhatAStackNeedsAndWhatNeedsIt(t *testing.T) {
	for focus, want := range map[string][]string{
		"infra/cluster": {"GitRepository GitRepository/infra/infra", "Stack Stack/infra/network", "Stack Stack/infra/cluster", "Stack Stack/apps/shop"},
		"apps/search":   {"Program Program/apps/search", "Stack Stack/apps/search", "Stack Stack/apps/shop"},
	} {
		NewWithT(t).Expect(idsOf(OfStacks(fleet(), focus, running))).To(ConsistOf(want), focus)
	}
	g := NewWithT(t)
	none := OfStacks(fleet(), "apps/absent-too", running)
	g.Expect(none.Message).To(Equal("There is no Stack apps/absent-too that you may read"))
	g.Expect(none.Nodes).To(Equal([]Node{}))
}

func TestTheGraphOfResources(t *testing.T) {
	g := NewWithT(t)
	urn := func(name string) string { return "urn:pulumi:dev::app::lab:index:Thing::" + name }
	drawn := OfResources([]run.Resource{
		{URN: urn("b"), Type: "lab:index:Thing", Parent: urn("a")}, {URN: urn("a"), Type: "lab:index:Thing"}, {URN: urn("c"), Type: "lab:index:Thing", Parent: "absent"},
	})
	g.Expect(drawn.Nodes).To(HaveLen(3))
	g.Expect(drawn.Nodes[0].Label).To(Equal("a"))
	g.Expect(edgesOf(drawn)).To(Equal([]string{urn("a") + " parent " + urn("b")}))
}
