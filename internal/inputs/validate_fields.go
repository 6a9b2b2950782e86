// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package inputs

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

// validateSource checks that there is exactly one program source, with only the fields
// that belong to it.
func validateSource(spec v1.StackSpec) error {
	var set []string
	for _, source := range []struct {
		name string
		set  bool
	}{
		{"fluxSource", spec.FluxSource != nil}, {"programRef", spec.ProgramRef != nil}, {"projectRepo", spec.ProjectRepo != ""},
	} {
		if source.set {
			set = append(set, source.name)
		}
	}
	const rule = "exactly one of fluxSource, programRef and projectRepo is required, and "
	switch len(set) {
	case 0:
		return &InvalidError{"spec", rule + "none is set: add one"}
	case 1:
		if err := validateDir(spec); err != nil {
			return err
		}
		return validateGit(spec)
	}
	return &InvalidError{"spec", rule + strings.Join(set, " and ") + " are set: keep only one"}
}

// validateGit checks projectRepo and the fields that belong to it.
func validateGit(spec v1.StackSpec) error {
	switch {
	case spec.Branch != "" && spec.Commit != "":
		return &InvalidError{"spec", "branch and commit cannot both be set: remove one of them"}
	case spec.ProjectRepo != "" && spec.Branch == "" && spec.Commit == "":
		return &InvalidError{"spec.projectRepo", "needs a branch or a commit: add spec.branch or spec.commit"}
	case spec.ProjectRepo != "" && spec.Branch != "":
		return validateBranch(spec.Branch)
	case spec.ProjectRepo != "":
		return nil
	}
	for _, field := range []struct {
		name string
		set  bool
	}{
		{"branch", spec.Branch != ""}, {"commit", spec.Commit != ""}, {"repoDir", spec.RepoDir != ""},
		{"gitAuth", spec.GitAuth != nil}, {"gitAuthSecret", spec.GitAuthSecret != ""},
	} {
		if field.set {
			return &InvalidError{"spec." + field.name, "can only be used with projectRepo: remove it, or use projectRepo for the program"}
		}
	}
	return nil
}

// gitReferences lists the references of gitAuth. Git credentials are not inputs of a run
// and are not read here.
func gitReferences(spec v1.StackSpec) []reference {
	auth := spec.GitAuth
	if auth == nil {
		return nil
	}
	var all []reference
	add := func(name string, ref *v1.ResourceRef) {
		if ref != nil {
			all = append(all, reference{field: "spec.gitAuth." + name, ref: *ref})
		}
	}
	add("accessToken", auth.PersonalAccessToken)
	if ssh := auth.SSHAuth; ssh != nil {
		add("sshAuth.sshPrivateKey", &ssh.SSHPrivateKey)
		add("sshAuth.password", ssh.Password)
		add("sshAuth.knownHosts", ssh.KnownHosts)
	}
	if basic := auth.BasicAuth; basic != nil {
		add("basicAuth.userName", &basic.UserName)
		add("basicAuth.password", &basic.Password)
	}
	if app := auth.GitHubApp; app != nil {
		add("githubApp.appID", &app.AppID)
		add("githubApp.installationID", &app.InstallationID)
		add("githubApp.privateKey", &app.PrivateKey)
	}
	return all
}

// validateChoices checks the fields that allow only certain values.
func validateChoices(spec v1.StackSpec) error {
	switch spec.PendingCreates {
	case "", v1.PendingCreatesStop, v1.PendingCreatesClear:
	default:
		return &InvalidError{"spec.pendingCreates", fmt.Sprintf("is %q, but must be Stop or Clear", spec.PendingCreates)}
	}
	switch spec.WorkspaceReclaimPolicy {
	case "", "Retain", "Delete":
	default:
		return &InvalidError{"spec.workspaceReclaimPolicy", fmt.Sprintf("is %q, but the controller keeps no workspaces: remove it", spec.WorkspaceReclaimPolicy)}
	}
	return validateSecretsProvider(spec.SecretsProvider)
}

// validateSecretsProvider checks that Pulumi knows the provider, and that its URL has no
// password: the URL ends up on a command line, in the workspace and in the state.
func validateSecretsProvider(provider string) error {
	const field = "spec.secretsProvider"
	const use = "use passphrase, default, or the URL of a key: awskms://, azurekeyvault://, gcpkms:// or hashivault://"
	if provider == "" || provider == "passphrase" || provider == "default" {
		return nil
	}
	u, err := url.Parse(provider)
	if err != nil {
		return &InvalidError{field, "is not the URL of a key: " + use}
	}
	// Compared case-sensitively, as Pulumi does.
	kind, _, isURL := strings.Cut(provider, "://")
	if !isURL || !slices.Contains([]string{"awskms", "azurekeyvault", "gcpkms", "hashivault"}, kind) {
		return &InvalidError{field, "is not a secrets provider of Pulumi: " + use}
	}
	if u.User != nil {
		return &InvalidError{field, "contains a user or a password, which anyone who can read the Stack would see: set credentials in spec.envRefs"}
	}
	return nil
}

// validateLists checks that no list has an empty entry.
func validateLists(spec v1.StackSpec) error {
	for _, list := range []struct {
		field, of string
		values    []string
	}{
		{"spec.envs", "the name of a ConfigMap", spec.Envs},
		{"spec.envSecrets", "the name of a Secret", spec.EnvSecrets},
		{"spec.environment", "the name of an environment of Pulumi ESC", spec.Environment},
		{"spec.targets", "the URN of a resource", spec.Targets},
	} {
		if i := slices.Index(list.values, ""); i >= 0 {
			return &InvalidError{fmt.Sprintf("%s[%d]", list.field, i), "is empty: give " + list.of + ", or remove it"}
		}
	}
	return nil
}

// validateDurations checks that all durations are readable and not negative.
func validateDurations(spec v1.StackSpec) error {
	type duration struct {
		field string
		value time.Duration
	}
	durations := []duration{
		{"spec.interval", durationOf(spec.Interval)}, {"spec.retryInterval", durationOf(spec.RetryInterval)},
		{"spec.timeout", durationOf(spec.Timeout)},
		{"spec.resyncFrequencySeconds", time.Duration(spec.ResyncFrequencySeconds)},
		{"spec.retryMaxBackoffDurationSeconds", time.Duration(spec.RetryMaxBackoffDurationSeconds)},
	}
	for i, p := range spec.Prerequisites {
		if p.Requirement != nil {
			durations = append(durations, duration{fmt.Sprintf("spec.prerequisites[%d].requirement.succeededWithinDuration", i),
				durationOf(p.Requirement.SucceededWithinDuration)})
		}
	}
	for _, d := range durations {
		switch {
		case d.value == v1.UnreadableDuration:
			return &InvalidError{d.field, "is not a valid duration: give one such as 30s, 5m or 1h30m, of at most 99999h"}
		case d.value < 0:
			return &InvalidError{d.field, "is negative: give a positive time, or remove it for the default"}
		}
	}
	return nil
}

func durationOf(d *metav1.Duration) time.Duration {
	return cmp.Or(d, &metav1.Duration{}).Duration
}
