// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/ui/view"
	"github.com/flux-pulumi/pulumi-controller/internal/observe"
)

func TestOtherFlagsAreNamedOnlyWhereTheyMatter(t *testing.T) {
	usual := observe.Options{NoCrossNamespaceRefs: true}
	elsewhere := func(s *v1.Stack) { s.Spec.DependsOn = []v1.DependencyReference{{Name: "base", Namespace: "other"}} }
	template := func(s *v1.Stack) { s.Spec.WorkspaceTemplate = &apiextensionsv1.JSON{Raw: []byte("{}")} }
	for name, tt := range map[string]struct {
		given  observe.Options
		change func(s *v1.Stack)
		want   string
	}{
		"nothing":           {usual, func(*v1.Stack) {}, ""},
		"its own namespace": {usual, func(s *v1.Stack) { s.Spec.DependsOn = []v1.DependencyReference{{Name: "base", Namespace: "apps"}} }, ""},
		"another namespace": {usual, elsewhere, "refers to another namespace: if the controller runs with --no-cross-namespace-refs=false,"},
		"a source there": {usual, func(s *v1.Stack) {
			s.Spec.FluxSource = &v1.FluxSource{}
			s.Spec.FluxSource.SourceRef.Namespace = "flux-system"
		}, "--no-cross-namespace-refs=false"},
		"which it may":        {observe.Options{}, elsewhere, ""},
		"a template":          {usual, template, "has a spec.workspaceTemplate: if the controller runs with --runner=job,"},
		"a template of a Job": {observe.Options{Jobs: true}, template, ""},
		"a Job":               {usual, func(s *v1.Stack) { s.Status.Run = &v1.RunStatus{Job: "network-1"} }, "runs as a Job"},
		"both":                {usual, func(s *v1.Stack) { elsewhere(s); template(s) }, "with --no-cross-namespace-refs=false and --runner=job, start"},
	} {
		stack := &v1.Stack{}
		stack.Namespace = "apps"
		tt.change(stack)
		found := otherFlags(stack, tt.given)
		if tt.want == "" {
			NewWithT(t).Expect(found).To(BeEmpty(), name)
			continue
		}
		NewWithT(t).Expect(found).To(ConsistOf(ContainSubstring(tt.want)), name)
	}
}

// TestThePageExplainsAStackAsTheControllerWithItsFlagsWould, and says where it may not.
func TestThePageExplainsAStackAsTheControllerWithItsFlagsWould(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t, "ui-flags")
	w.apply("steered")
	stack := w.network()
	stack.Spec.DependsOn = []v1.DependencyReference{{Name: "base", Namespace: "ui-flags-other"}}
	g.Expect(w.api.Update(t.Context(), stack)).To(Succeed())
	shown := func(flags ...string) (detail view.Detail) {
		w.open(append([]string{"--no-open"}, flags...)...).get("network", &detail)
		return detail
	}
	const hint = "start flux pulumi ui with the same"
	usual := shown()
	g.Expect(usual.Next).To(ContainSubstring("namespace"))
	g.Expect(strings.Join(usual.Warnings, " ")).To(ContainSubstring(hint))
	given := shown("--no-cross-namespace-refs=false")
	g.Expect(given.Next).NotTo(Equal(usual.Next))
	g.Expect(given.Next).To(ContainSubstring("ui-flags-other/base"))
	g.Expect(strings.Join(given.Warnings, " ")).NotTo(ContainSubstring(hint))
	g.Expect(w.run("ui --runner=pod").err).To(ContainSubstring("--runner is \"pod\""))
}
