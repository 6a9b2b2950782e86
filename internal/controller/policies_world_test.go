// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/fluxcd/pkg/runtime/conditions"
	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/source"
)

// packSources has the digests of the artifacts of packs, by the name of their source.
type packSources struct {
	mu      sync.Mutex
	digests map[string]string
	// err is that of each of them.
	err error
}

func (s *packSources) Resolve(_ context.Context, _ string, ref v1.SourceReference) (*source.Source, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return nil, s.err
	}
	digest, ok := s.digests[ref.Name]
	if !ok {
		return nil, fmt.Errorf("source '%s/%s/%s' not found: %w", ref.Kind, ref.Namespace, ref.Name, source.ErrNotFound)
	}
	return &source.Source{Revision: "main@" + digest, Digest: digest, URL: "http://sources/" + ref.Name}, nil
}

func (s *packSources) set(name, digest string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.digests[name] = digest; digest == "" {
		delete(s.digests, name)
	}
}

// policySet has a pack from the source of its own name.
func policySet(name string, enforcement v1.PolicyEnforcement, changes ...func(*v1.PolicySet)) *v1.PolicySet {
	set := &v1.PolicySet{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: v1.PolicySetSpec{Enforcement: enforcement, Packs: []v1.PolicyPack{{
			Name: "tags", Dir: "packs/tags", SourceRef: v1.PolicySourceReference{Kind: "GitRepository", Name: name, Namespace: "platform"},
			Config: map[string]apiextensionsv1.JSON{"required-tags": {Raw: []byte(`{"enforcementLevel":"mandatory"}`)}},
		}}},
	}
	for _, change := range changes {
		change(set)
	}
	return set
}

// guardedWorld has a Stack that was applied before there was a PolicySet.
func guardedWorld(t *testing.T, sets ...*v1.PolicySet) (*world, *packSources) {
	t.Helper()
	w := inventoryWorld(t)
	sources := &packSources{digests: map[string]string{}}
	w.PackSources = sources
	w.mustReconcile()
	w.endRun(run.Succeeded, "", run.Changes{Created: 1})
	w.mustReconcile()
	for _, set := range sets {
		sources.set(set.Name, "sha256:1")
		w.createSet(set)
	}
	return w, sources
}

func (w *world) createSet(set *v1.PolicySet) {
	w.t.Helper()
	if err := w.Create(context.Background(), set); err != nil {
		w.t.Fatal(err)
	}
}

// violated is a violation of the pack of the PolicySet.
func violated(set string) run.Violations {
	return run.Violations{
		Listed:    []run.Violation{{Set: set, Pack: "tags", Policy: "required-tags", Level: run.Mandatory, Resource: "urn:a", Message: "it has no owner"}},
		Mandatory: map[string]int{set: 1},
	}
}

// endPolicies ends the run in flight, which has the operation, with what it has found.
func (w *world) endPolicies(operation run.Operation, outcome run.Outcome, message string, found run.Violations) {
	w.t.Helper()
	record := w.stack().Status.Run
	NewWithT(w.t).Expect(record).To(HaveField("Operation", operation))
	w.runner.end(record.ID, outcome, message)
	w.runner.results[record.ID].Violations = found
	w.runner.results[record.ID].EndedAt = w.Now()
	w.mustReconcile()
}

func compliant(stack *v1.Stack) *metav1.Condition {
	return conditions.Get(stack, v1.CompliantCondition)
}

func newPacks(todo run.Run) []string {
	var names []string
	for _, pack := range todo.Policies {
		names = append(names, fmt.Sprintf("%s/%s@%s", pack.Set, pack.Name, pack.Artifact.Digest))
	}
	return names
}
