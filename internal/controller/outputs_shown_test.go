// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"encoding/json"
	"testing"

	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

func TestAnOutputKeepsItsNulls(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t, programAndStack()...)
	w.nextRun()
	shows := func(outputs, want string) {
		t.Helper()
		w.endNow(run.Succeeded, func(r *run.Result) { g.Expect(json.Unmarshal([]byte(outputs), &r.Outputs)).To(Succeed()) })
		shown, err := json.Marshal(w.stack().Status.Outputs)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(shown).To(MatchJSON(want))
	}
	const first = `"object": {"a": null, "b": [null, {"c": null}]}, "other": 1}`
	shows(`{"nothing": null, `+first, "{"+first)
	g.Expect(w.stack().Status.Run).To(BeNil())
	g.Expect(w.stack().Status.LastAppliedDigest).NotTo(BeEmpty())

	w.edit(force("x"))
	w.nextRun()
	const next = `{"nothing": 1, "object": {"a": null, "b": []}}`
	shows(next, next)
	w.edit(force("y"))
	w.nextRun()
	const last = `{"object": {"a": 1}}`
	shows(last, last)
}

func TestNullsAreNotWrittenOverANewerStack(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t, programAndStack()...)
	stale := w.stack()
	w.edit(func(s *v1.Stack) { s.Labels = map[string]string{"a": "b"} })
	err := w.patchStatus(t.Context(), stale, func() {
		stale.Status.Outputs = map[string]apiextensionsv1.JSON{"object": {Raw: []byte(`{"a":null}`)}}
	})
	g.Expect(apierrors.IsConflict(err)).To(BeTrue(), "%v", err)
	g.Expect(w.stack().Status.Outputs).To(BeEmpty())
}
