// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package manifests

import (
	"encoding/json"
	"fmt"
	"testing"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

// table requests what `kubectl get` prints.
func (a *api) table(t *testing.T, namespace, resource string) *metav1.Table {
	t.Helper()
	g := NewWithT(t)
	raw, err := a.discovery.RESTClient().Get().
		AbsPath("/apis", v1.GroupVersion.Group, v1.GroupVersion.Version, "namespaces", namespace, resource).
		SetHeader("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io").
		Do(t.Context()).Raw()
	g.Expect(err).NotTo(HaveOccurred())
	table := &metav1.Table{}
	g.Expect(json.Unmarshal(raw, table)).To(Succeed())
	return table
}

// columns lists the columns, with those of -o wide in brackets.
func columns(table *metav1.Table) []string {
	var names []string
	for _, column := range table.ColumnDefinitions {
		name := column.Name
		if column.Priority > 0 {
			name = fmt.Sprintf("(%s)", name)
		}
		names = append(names, name)
	}
	return names
}

func testTables(t *testing.T, server *api) {
	t.Run("a Stack shows age, readiness, status and with -o wide the revision", func(t *testing.T) {
		g := NewWithT(t)
		namespace := server.namespace(t)
		object := stack(t, "{stack: dev, programRef: {name: p}}")
		object.SetNamespace(namespace)
		g.Expect(server.strict.Create(t.Context(), object)).To(Succeed())
		object.Object["status"] = map[string]any{
			"observedGeneration":  object.GetGeneration(),
			"lastAppliedRevision": "main@sha1:0123",
			"conditions": []any{map[string]any{
				"type": "Ready", "status": "True", "reason": "ReconciliationSucceeded",
				"message": "Applied revision: main@sha1:0123", "lastTransitionTime": "2026-01-02T03:04:05Z",
			}},
		}
		g.Expect(server.strict.Status().Update(t.Context(), object)).To(Succeed())
		table := server.table(t, namespace, "stacks")
		g.Expect(columns(table)).To(Equal([]string{"Name", "Age", "Ready", "Status", "(Revision)"}))
		g.Expect(table.Rows).To(HaveLen(1))
		g.Expect(table.Rows[0].Cells[2:]).To(Equal([]any{"True", "Applied revision: main@sha1:0123", "main@sha1:0123"}))
	})
	t.Run("a Program shows age, readiness and status", func(t *testing.T) {
		g := NewWithT(t)
		namespace := server.namespace(t)
		object := program(t, "{}")
		object.SetNamespace(namespace)
		g.Expect(server.strict.Create(t.Context(), object)).To(Succeed())
		g.Expect(object.Object["status"]).To(Equal(map[string]any{"observedGeneration": int64(-1)}))
		object.Object["status"] = map[string]any{
			"observedGeneration": object.GetGeneration(),
			"artifact":           map[string]any{"digest": "sha256:1"},
			"conditions": []any{map[string]any{
				"type": "Ready", "status": "False", "reason": "ProgramInvalid",
				"message": "program.runtime: is not a key", "lastTransitionTime": "2026-01-02T03:04:05Z",
			}},
		}
		g.Expect(server.strict.Status().Update(t.Context(), object)).To(Succeed())
		g.Expect(object.Object["status"]).To(HaveKeyWithValue("artifact", HaveKeyWithValue("digest", "sha256:1")), "the operator's")
		table := server.table(t, namespace, "programs")
		g.Expect(columns(table)).To(Equal([]string{"Name", "Age", "Ready", "Status"}))
		g.Expect(table.Rows[0].Cells[2:]).To(Equal([]any{"False", "program.runtime: is not a key"}))
	})
	t.Run("kubectl get fluxcd lists them", func(t *testing.T) {
		g := NewWithT(t)
		resources, err := server.discovery.ServerResourcesForGroupVersion(v1.GroupVersion.String())
		g.Expect(err).NotTo(HaveOccurred())
		categories := map[string][]string{}
		for _, resource := range resources.APIResources {
			categories[resource.Name] = resource.Categories
		}
		g.Expect(categories).To(HaveKeyWithValue("stacks", ConsistOf("all", "fluxcd", "fluxcd-appliers")))
		g.Expect(categories).To(HaveKeyWithValue("programs", ConsistOf("all", "fluxcd")))
	})
}

// testStatusDefault checks what kstatus needs: a Stack that no controller has seen is in progress, not current.
func testStatusDefault(t *testing.T, server *api) {
	g := NewWithT(t)
	object := stack(t, "{stack: dev, programRef: {name: p}}")
	object.SetNamespace(server.namespace(t))
	// A status in a manifest, as `kubectl get -o yaml` prints it, must not pass for one written by a controller.
	g.Expect(unstructured.SetNestedField(object.Object, int64(7), "status", "observedGeneration")).To(Succeed())
	g.Expect(server.strict.Create(t.Context(), object)).To(Succeed())
	g.Expect(object.Object["status"]).To(Equal(map[string]any{"observedGeneration": int64(-1)}))
}
