// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/grammar"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

func TestABackendThatASecretNamesIsNotNamed(t *testing.T) {
	g := NewWithT(t)
	of := func(backend string) string {
		r := run.Run{Backend: backend, BackendKey: "uid", Masks: []string{"s3://private?region=x", "s3://private?region=y", "s3://other", "us-east-1"}}
		return (&session{run: r, mask: maskerOf(r)}).backend()
	}
	g.Expect(of("s3://private?region=x")).To(MatchRegexp(`^s3://sha256-[0-9a-f]{16}-[0-9a-f]{8}$`))
	g.Expect(of("s3://private?region=x")).To(Equal(of("s3://private?region=y")))
	g.Expect(of("s3://private?region=x")).NotTo(Equal(of("s3://other")))
	g.Expect(of("s3://named?region=us-east-1")).To(Equal("s3://named"), "a part of it is no name")

	s := &session{run: run.Run{Backend: "s3://private", BackendKey: "uid", KnownBackend: of("s3://private?region=x")}}
	g.Expect(s.isElsewhere()).To(BeFalse(), "whether it is named or not")
	s.run.KnownBackend = of("s3://other")
	g.Expect(s.isElsewhere()).To(BeTrue())
}

// The stack is created in one backend and then requested in another.
func TestAStackNotFoundIsNotAlwaysGone(t *testing.T) {
	t.Parallel()
	there := newLab(t)
	first := there.given(plainProgram)
	there.Expect(first.Backend).To(Equal("file://" + there.backend))
	before := there.backendFiles()
	t.Cleanup(func() {
		there.Expect(there.backendFiles()).To(Equal(before), "nothing is asked of the first backend any more")
	})

	known := run.Project{Name: "demo", Runtime: "yaml"}
	emptied := []run.Interrupted{{ID: "lost", Operation: run.Destroy, Emptied: true}}
	for name, test := range map[string]struct {
		operation run.Operation
		edit      func(r *run.Run, first string)
		want      run.Outcome
		says      string
	}{
		"an update that was seen in another backend": {
			operation: run.Update, want: run.Failed, says: "or bring the state here",
			edit: func(r *run.Run, first string) { r.KnownBackend = first },
		},
		"a destroy of what was seen in another backend": {
			operation: run.Destroy, want: run.Failed, says: "or bring the state here",
			edit: func(r *run.Run, first string) { r.KnownBackend = first },
		},
		"a recovery of what was seen in another backend": {
			operation: run.Recover, want: run.Failed, says: "or bring the state here",
			edit: func(r *run.Run, first string) { r.KnownBackend, r.Interrupted = first, emptied },
		},
		"a destroy of what was last seen here": {
			operation: run.Destroy, want: run.Failed, says: "nothing was destroyed",
			edit: func(r *run.Run, _ string) { r.Known, r.KnownBackend = known, grammar.PublicBackend(r.Backend) },
		},
		"a destroy of what was never seen": {operation: run.Destroy, want: run.Succeeded},
		"a recovery of what was updated before": {
			operation: run.Recover, want: run.Failed, says: "is no longer in the backend",
			edit: func(r *run.Run, _ string) { r.Known, r.KnownBackend = known, grammar.PublicBackend(r.Backend) },
		},
		"a recovery from a destroy that had deleted all": {
			operation: run.Recover, want: run.Succeeded,
			edit: func(r *run.Run, _ string) {
				r.Known, r.KnownBackend, r.Interrupted = known, grammar.PublicBackend(r.Backend), emptied
			},
		},
		"a recovery from a destroy that had not": {
			operation: run.Recover, want: run.Failed, says: "is no longer in the backend",
			edit: func(r *run.Run, _ string) {
				r.Known, r.KnownBackend = known, grammar.PublicBackend(r.Backend)
				r.Interrupted = []run.Interrupted{{ID: "lost", Operation: run.Destroy}}
			},
		},
		"an update of what another controller has updated": {
			operation: run.Update, want: run.Failed, says: "set spec.backend",
			edit: func(r *run.Run, _ string) { r.Exists, r.MustExist = false, true },
		},
		"a destroy of what another controller has updated": {
			operation: run.Destroy, want: run.Failed, says: "set spec.destroyOnFinalize to false",
			edit: func(r *run.Run, _ string) { r.MustExist = true },
		},
		"a recovery of what another controller has updated": {
			operation: run.Recover, want: run.Failed, says: "set spec.backend",
			edit: func(r *run.Run, _ string) { r.MustExist, r.Interrupted = true, emptied },
		},
		"a recovery of what was never updated": {operation: run.Recover, want: run.Succeeded},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			r := l.update(plainProgram)
			r.Operation, r.Backend, r.Exists = test.operation, "file://"+t.TempDir()+"?no_tmp_dir=true", true
			if test.edit != nil {
				test.edit(&r, first.Backend)
			}
			result := l.do(t.Context(), r)
			l.Expect(result.Outcome).To(Equal(test.want), result.Message)
			l.Expect(result.Message).To(ContainSubstring(test.says))
			l.Expect(result.Backend).To(BeEmpty(), "the stack is not there")
			if r.KnownBackend == first.Backend {
				l.Expect(result.Message).To(And(ContainSubstring(first.Backend), ContainSubstring(grammar.PublicBackend(r.Backend)+": ")))
			}
		})
	}
}
