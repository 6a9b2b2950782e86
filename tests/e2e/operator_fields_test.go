// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	aclv1 "github.com/fluxcd/pkg/apis/acl"
	. "github.com/onsi/gomega"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

// fate is the outcome of a Stack of the Pulumi operator. The zero value: it runs, and so does its program.
type fate struct {
	// stalled and failed are reasons, and texts are in the message.
	stalled, failed string
	texts           []string
	// elsewhere says why this test can only check that the field is accepted.
	elsewhere string
}

// fates says what the controller does with each field of the Pulumi operator's Stack.
func fates() map[string]fate {
	const git = "the fields of git have tests of their own, with servers that ask for credentials"
	invalid := func(texts ...string) fate { return fate{stalled: v1.InvalidSpecReason, texts: texts} }
	denied := func(texts ...string) fate { return fate{stalled: aclv1.AccessDeniedReason, texts: texts} }
	return map[string]fate{
		"accessTokenSecret":           {},
		"backend":                     {},
		"branch":                      {elsewhere: git},
		"commit":                      {elsewhere: git},
		"config":                      {},
		"configRef":                   {},
		"continueResyncOnCommitMatch": {},
		"destroyOnFinalize":           {},
		"envRefs":                     {},
		"envRefs.env":                 denied("spec.envRefs.PROXY", "--allow-controller-refs"),
		"envRefs.filesystem":          denied("spec.envRefs.GOOGLE_CREDENTIALS", "--allow-controller-refs"),
		"envRefs.secret.namespace":    denied("spec.envRefs.PULUMI_ACCESS_TOKEN", "Secret/team-secrets/pulumi-api-secret"),
		"envSecrets":                  {},
		"environment":                 invalid("spec.environment", "needs Pulumi Cloud"),
		"envs":                        {},
		"expectNoRefreshChanges":      {},
		"fluxSource":                  {elsewhere: "the seeds run from sources"},
		"gitAuth.accessToken":         {elsewhere: git},
		"gitAuth.basicAuth":           {elsewhere: git},
		"gitAuth.githubApp":           {elsewhere: git},
		"gitAuth.sshAuth":             {elsewhere: git},
		"gitAuthSecret":               {elsewhere: git},
		"prerequisites":               {},
		"preview": {failed: v1.PreviewFailedReason,
			texts: []string{"the stack does not exist in the backend, and a preview does not create it"}},
		"programRef":                     {},
		"projectRepo":                    {elsewhere: git},
		"refresh":                        {},
		"repoDir":                        {elsewhere: git},
		"resyncFrequencySeconds":         {},
		"retryMaxBackoffDurationSeconds": {},
		"retryOnUpdateConflict":          {},
		"runProgram":                     {},
		"secrets":                        {},
		"secretsProvider":                {},
		"secretsRef":                     {},
		"serviceAccountName":             {},
		"shallow":                        {elsewhere: git},
		"stack":                          {},
		"targetDependents":               {},
		"targets":                        {},
		"updateTemplate":                 {},
		"updateTemplate.parallel":        invalid("spec.updateTemplate.spec.parallel", "PULUMI_PARALLEL"),
		"useLocalStackOnly":              {failed: v1.UpdateFailedReason, texts: []string{"is not in the backend", "spec.useLocalStackOnly"}},
		"workspaceReclaimPolicy":         {},
		"workspaceTemplate":              invalid("spec.workspaceTemplate", "--runner=job", "remove the template"),
	}
}

func TestEachFieldOfThePulumiOperatorIsHonouredOrRefused(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	u := newTenant(t, shared)
	fields := u.fieldFiles()
	u.Expect(fields).To(Equal(slices.Sorted(maps.Keys(fates()))), "there is a file for each fate, and a fate for each file")
	u.bring(filepath.Join("operator", "fields", "references.yaml"), u.nowhere)
	u.bring(filepath.Join("operator", "fields", "program.yaml"), u.nowhere)
	stacks := map[string]*v1.Stack{}
	for _, field := range fields {
		if fates()[field].elsewhere != "" {
			continue
		}
		for _, stack := range u.bring(filepath.Join("operator", "fields", field+".yaml"), u.nowhere) {
			stacks[field] = stack
		}
	}
	for _, field := range slices.Sorted(maps.Keys(stacks)) {
		stack, want := stacks[field], fates()[field]
		switch {
		case want.stalled != "":
			u.awaitStalled(stack, want.stalled, want.texts...)
		case want.failed != "":
			u.awaitFailure(stack, want.failed, want.texts...)
		default:
			u.awaitReady(stack)
			u.Expect(u.textOf(stack, "password")).To(Equal("[secret]"), field)
		}
	}
}

// fieldFiles lists the fields that have a file.
func (t *tenant) fieldFiles() []string {
	t.test.Helper()
	entries, err := os.ReadDir(t.testdata("operator", "fields"))
	t.Expect(err).NotTo(HaveOccurred())
	var fields []string
	for _, entry := range entries {
		if name := strings.TrimSuffix(entry.Name(), ".yaml"); name != "program" && name != "references" {
			fields = append(fields, name)
		}
	}
	slices.Sort(fields)
	return fields
}
