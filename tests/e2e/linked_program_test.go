// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"testing"

	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	. "github.com/onsi/gomega"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

// source-controller leaves symbolic links out of an artifact (fluxcd/flux2#3619). Without its Main.yaml, the project would be a
// program without resources for Pulumi.
func TestAProgramThatBecomesALinkDeletesNothing(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	u := newTenant(t, shared)
	main := map[string]string{"Main.yaml": oneThing("one")}
	repo := u.git(both(in("common", main), in("envs/prod", both(project("app", ""), main))))
	stack := u.stack(from(sourcev1.GitRepositoryKind, "envs/prod"), destroyed)
	u.apply(stack)
	u.awaitReady(stack)

	repo.link("envs/prod/Main.yaml", "../../common/Main.yaml")
	u.awaitFailure(stack, v1.UpdateFailedReason, `project "app" has no program: there is no Main.yaml in the directory "/envs/prod"`, "symbolic links")
	repo.link("envs/prod", "../common")
	u.awaitFailure(stack, meta.ArtifactFailedReason, `dir "envs/prod" is not in the artifact`, "symbolic links")
	u.Expect(u.things()).To(Equal(map[string]string{"a": "one"}))
	u.Expect(u.resourcesInState("app", "dev")).NotTo(BeEmpty())

	u.delete(stack)
	u.awaitGone(stack)
	u.Expect(u.things()).To(BeEmpty(), "a destroy needs no program")
}
