// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"errors"
	"testing"

	. "github.com/onsi/gomega"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// Only the runner of a destroy sees whether the state needs the program.
func TestADestroyFromTheStateHasTheProgramOfASource(t *testing.T) {
	destroy := func(t *testing.T, source error) (run.Run, string) {
		g := NewWithT(t)
		w, from := sourceWorld(t, func(s *v1.Stack) { s.Spec.DestroyOnFinalize = true })
		w.run(run.Succeeded, "", run.Changes{})
		g.Expect(w.Delete(t.Context(), w.stack())).To(Succeed())
		from.err = source
		w.mustReconcile()
		record := w.stack().Status.Run
		g.Expect(record.Operation).To(Equal(v1.OperationDestroy))
		g.Expect(record.Revision).To(BeEmpty(), "it may run no program")
		return w.runner.runs[record.ID], record.Digest
	}
	g := NewWithT(t)
	with, digest := destroy(t, nil)
	g.Expect(with.Program).To(Equal(run.Program{Artifact: &run.Artifact{URL: "http://source/a", Digest: "sha256:a"}}))
	g.Expect(with.NeedsArtifact()).To(BeFalse())

	without, same := destroy(t, errors.New("source 'GitRepository/default/app' not found"))
	g.Expect(without.Program).To(Equal(run.Program{Unavailable: "source 'GitRepository/default/app' not found"}))
	g.Expect(same).To(Equal(digest), "an edit of the program starts no destroy")
}
