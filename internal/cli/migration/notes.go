// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package migration

import (
	"fmt"
	"slices"
	"strings"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/observe"
)

// difference is what a field does here that it does not do with the operator.
type difference struct {
	field string
	// onlyV2 says that v1 does the same.
	onlyV2 bool
	text   string
}

func differences() []difference {
	return []difference{
		{"destroyOnFinalize", true, "spec.destroyOnFinalize also removes the stack from its backend, which v2 leaves there empty"},
		{"expectNoRefreshChanges", true, "spec.expectNoRefreshChanges has no effect with v2, and works here"},
		{"retryOnUpdateConflict", true, "spec.retryOnUpdateConflict has no effect with v2, and works here"},
		{"useLocalStackOnly", true, "spec.useLocalStackOnly keeps the controller from creating the stack, in all cases"},
		{"secretsProvider", false, "a stack with another secrets provider than spec.secretsProvider is changed to it"},
		{"projectRepo", false, "the program gets the files of the repository without .git and symbolic links"},
	}
}

// notesOn lists what no rule refuses, but a person should know before the migration.
func notesOn(stack *v1.Stack, foreseen *observe.Foresight, major int, facts Facts) []string {
	var notes []string
	for _, d := range differences() {
		if slices.Contains(facts.SpecFields, d.field) && !(d.onlyV2 && major == 1) {
			notes = append(notes, d.text)
		}
	}
	notes = append(notes, onCluster(foreseen, major)...)
	notes = append(notes, onLanguage(stack, facts)...)
	if facts.Jobs && slices.Contains(facts.SpecFields, "workspaceTemplate") {
		notes = append(notes, "what spec.workspaceTemplate may not set here is only checked when the controller starts a run: see the list in docs/migration/fields.md")
	}
	if backend := variable(foreseen, "PULUMI_BACKEND_URL"); backend != nil && strings.HasPrefix(backend.Value, "file://") {
		notes = append(notes, fmt.Sprintf("its state is in a directory, %s: mount the volume with it at the same path", backend.Value))
	}
	if len(foreseen.Unready) > 0 {
		notes = append(notes, "a run waits for these: "+strings.Join(foreseen.Unready, ", "))
	}
	for _, text := range foreseen.Unchecked {
		notes = append(notes, "not known here, so the outcome may differ: "+text)
	}
	for _, text := range foreseen.Unreadable {
		notes = append(notes, "you are not allowed to read this, so the outcome may differ: "+text)
	}
	return notes
}

// onCluster is about a program that uses the cluster.
func onCluster(foreseen *observe.Foresight, major int) []string {
	var notes []string
	if foreseen.Account == "" && len(foreseen.Faults) == 0 {
		had := "the account of its workspace pod"
		if major == 1 {
			had = "the account of the operator"
		}
		notes = append(notes, fmt.Sprintf("its program has no access to the cluster, where it had %s: set spec.serviceAccountName if it needs any", had))
	}
	if major == 1 {
		notes = append(notes, "a resource of Kubernetes without a namespace goes into that of the Stack, and is replaced if v1 put it elsewhere: set kubernetes:namespace in spec.config to keep it")
	}
	return notes
}

// onLanguage is about the image that the program runs in.
func onLanguage(stack *v1.Stack, facts Facts) []string {
	if stack.Spec.ProgramRef != nil {
		return nil
	}
	runtime := ""
	if info := stack.Status.ProjectInfo; info != nil {
		runtime = info.Runtime
	}
	flag := "flux pulumi install --image-variant"
	if facts.Jobs {
		flag = "--runner-images, or spec.workspaceTemplate.spec.image"
	}
	switch runtime {
	case "yaml":
		return nil
	case "":
		return []string{"its status does not name the language of its program, which the image needs: see " + flag}
	}
	return []string{fmt.Sprintf("its program is in %s, which the image needs: see %s", runtime, flag)}
}
