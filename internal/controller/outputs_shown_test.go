// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"encoding/json"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

func TestOutputsThatTheStatusCannotHaveAreNotShown(t *testing.T) {
	nested := func(depth int) string { return strings.Repeat(`[`, depth) + strings.Repeat(`]`, depth) }
	for name, tt := range map[string]struct{ value, want string }{
		"a text":               {`"a"`, `"a"`},
		"an empty text":        {`""`, `""`},
		"nothing":              {" null\n", ""},
		"a number":             {`12345678901234567890`, `12345678901234567890`},
		"an object":            {`{"a": [1, {"b": null}], "c": {}}`, `{"a": [1, {"b": null}], "c": {}}`},
		"a number without end": {`{"a": 1e999}`, `"[not shown: it has a number that is too large]"`},
		"deep":                 {nested(maxOutputDepth), nested(maxOutputDepth)},
		"too deep":             {nested(maxOutputDepth + 1), `"[not shown: it has more than 100 lists and objects within each other]"`},
		"far too deep":         {nested(9000), `"[not shown: it has more than 100 lists and objects within each other]"`},
		"cut":                  {`{"a": [1`, `"[not shown: it is no JSON]"`},
	} {
		t.Run(name, func(t *testing.T) {
			shown := shownOutputs(&run.Result{Outputs: map[string]json.RawMessage{"output": json.RawMessage(tt.value)}})
			NewWithT(t).Expect(string(shown["output"].Raw)).To(Equal(tt.want))
		})
	}
}

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
