// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package manifests

import (
	"encoding/json"
	"fmt"
	"maps"
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/process"
)

// testShownFragments completes the parts of specs that the pages show, and creates what comes out.
func testShownFragments(t *testing.T, server *api) {
	g := NewWithT(t)
	root, err := process.RepoRoot()
	g.Expect(err).NotTo(HaveOccurred())
	units, err := Find(root)
	g.Expect(err).NotTo(HaveOccurred())
	found := 0
	for _, unit := range units {
		object, err := unit.fragment()
		g.Expect(err).NotTo(HaveOccurred())
		if object == nil {
			continue
		}
		found++
		t.Run(unit.Name, func(t *testing.T) {
			server.createShown(t, server.namespace(t), object)
		})
	}
	g.Expect(found).To(BeNumerically(">=", 10), "or a bug in finding them would look as if all were right")
}

// fragment returns a Stack or a Flux Kustomization with the part of a spec in the unit, nil if there is none.
func (u Unit) fragment() (*unstructured.Unstructured, error) {
	var shown struct {
		APIVersion        string         `json:"apiVersion"`
		Spec              map[string]any `json:"spec"`
		WorkspaceTemplate map[string]any `json:"workspaceTemplate"`
	}
	if err := yaml.Unmarshal([]byte(u.Text), &shown); err != nil {
		return nil, fmt.Errorf("%s: %w", u.Name, err)
	}
	if shown.WorkspaceTemplate != nil {
		shown.Spec = map[string]any{"workspaceTemplate": shown.WorkspaceTemplate}
	}
	if _, isTemplate := shown.Spec["podTemplate"]; isTemplate { // in a file for all Stacks
		shown.Spec = map[string]any{"workspaceTemplate": map[string]any{"spec": shown.Spec}}
	}
	if shown.APIVersion != "" || shown.Spec == nil {
		return nil, nil
	}
	object := &unstructured.Unstructured{Object: map[string]any{}}
	object.SetName("fragment")
	object.SetGroupVersionKind(v1.GroupVersion.WithKind(v1.StackKind))
	spec := map[string]any{"stack": "dev"}
	if shown.Spec["fluxSource"] == nil {
		spec["programRef"] = map[string]any{"name": "app"}
	}
	if shown.Spec["wait"] != nil {
		object.SetGroupVersionKind(schema.GroupVersionKind{Group: "kustomize.toolkit.fluxcd.io", Version: "v1", Kind: "Kustomization"})
		spec = map[string]any{"interval": "1h", "prune": true, "sourceRef": map[string]any{"kind": "GitRepository", "name": "fleet"}}
	}
	maps.Copy(spec, shown.Spec)
	object.Object["spec"] = spec
	text, err := json.Marshal(object.Object)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", u.Name, err)
	}
	return object, object.UnmarshalJSON(text) // whole numbers as an API server returns them
}
