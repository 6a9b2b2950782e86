// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/grammar"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// Secrets learned later are masked like those given to the run.
func TestASecretOfTheStateThatContainsOneOfTheConfigIsMasked(t *testing.T) {
	g := NewWithT(t)
	m := maskerOf(run.Run{Secrets: map[string]string{"user": "zsadmin"}, Masks: []string{"zsadmin"}})
	m.AddSecrets([]string{"zsadmin-state-tail"})
	g.Expect(m.Apply("is [secret]-state-tail")).To(Equal("is ***"))
}

// The reported backend is stored, and must not vary with the program.
func TestASecretOfTheProgramDoesNotHideTheBackend(t *testing.T) {
	g := NewWithT(t)
	r := run.Run{Backend: "s3://production-state", Program: run.Program{YAML: []byte("outputs: {o: {fn::secret: production}}")}}
	g.Expect(grammar.BackendOf(r)).To(Equal("s3://production-state"))
	g.Expect(maskerOf(r).Apply("in production")).To(Equal("in ***"))
}

// A reported backend contains nothing to mask.
func TestAReportedBackendIsNotMasked(t *testing.T) {
	for _, backend := range []string{
		"postgres://u:hunter22@db:1/x", "s3://u:hunter22@bucket", "postgres://u:hunter%2F22@db/x", "postgres://u:hunter/22@db/x",
		"postgres://u:hunt@er22@db/x", "postgres://u:hunt?er22@db/x", "postgres://db/x?user=bob&password=hunter22", "https://token-1234@host",
		"postgres://u@db/x", "postgres://pulumi:pulumi@db/pulumi", "s3://bucket/dir?region=eu", "a:b@c",
	} {
		g := NewWithT(t)
		reported := grammar.BackendOf(run.Run{Backend: backend})
		g.Expect(reported).To(Equal(grammar.PublicBackend(backend)))
		g.Expect(maskerOf(run.Run{Backend: backend}).Apply(reported)).To(Equal(reported))
	}
}
