// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package gitsource

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

const (
	gitHubProvider = sourcev1.GitProviderGitHub

	// branchTimeout is source-controller's own default. It is set explicitly, because a
	// defaulted field would look like a change.
	branchTimeout = time.Minute
	// commitTimeout allows for fetching the whole history, in which source-controller
	// looks for the commit.
	commitTimeout = 5 * time.Minute
	// commitInterval is how often a commit is fetched again. A commit cannot change.
	commitInterval = 24 * time.Hour

	// Everything keeps all files of the repository. By default source-controller excludes
	// archives, pictures and CI settings, and a .sourceignore is written for those who
	// apply manifests. A program may need any of these files, and the Pulumi operator
	// clones them.
	Everything = "!*\n.git/\n"
)

// Spec returns the spec of the GitRepository for the projectRepo of a Stack. It refers to
// the Secret only if there are credentials.
func Spec(stack *v1.Stack, remote Remote, credentials Credentials) sourcev1.GitRepositorySpec {
	ignore := Everything
	spec := sourcev1.GitRepositorySpec{
		URL:       remote.URL,
		Provider:  credentials.Provider,
		Interval:  metav1.Duration{Duration: stack.GetInterval()},
		Timeout:   &metav1.Duration{Duration: branchTimeout},
		Reference: reference(stack.Spec.Branch),
		Ignore:    &ignore,
	}
	if commit := stack.Spec.Commit; commit != "" {
		spec.Reference = &sourcev1.GitRepositoryRef{Commit: strings.ToLower(commit)}
		spec.Timeout.Duration = commitTimeout
		spec.Interval.Duration = max(commitInterval, spec.Interval.Duration)
	}
	if credentials.Data != nil {
		spec.SecretRef = &meta.LocalObjectReference{Name: SecretName(stack.Name)}
	}
	return spec
}

// reference returns the reference for a branch, or for another full ref name.
func reference(branch string) *sourcev1.GitRepositoryRef {
	if short, ok := strings.CutPrefix(branch, "refs/heads/"); ok {
		return &sourcev1.GitRepositoryRef{Branch: short}
	}
	if strings.HasPrefix(branch, "refs/") {
		return &sourcev1.GitRepositoryRef{Name: branch}
	}
	return &sourcev1.GitRepositoryRef{Branch: branch}
}

// SecretRefs lists the Secrets that the GitRepository of a Stack depends on, including
// its own, without duplicates: a change to any of them triggers a reconcile of the Stack.
func SecretRefs(stack *v1.Stack) []types.NamespacedName {
	spec := stack.Spec.GitSource
	if spec.ProjectRepo == "" {
		return nil
	}
	names := []types.NamespacedName{{Namespace: stack.Namespace, Name: SecretName(stack.Name)}}
	if spec.GitAuthSecret != "" {
		names = append(names, types.NamespacedName{Namespace: stack.Namespace, Name: spec.GitAuthSecret})
	}
	for _, ref := range authRefs(spec.GitAuth) {
		if ref != nil && ref.Type == v1.ResourceRefSecret && ref.Secret != nil {
			names = append(names, types.NamespacedName{Namespace: cmp.Or(ref.Secret.Namespace, stack.Namespace), Name: ref.Secret.Name})
		}
	}
	slices.SortFunc(names, func(a, b types.NamespacedName) int { return cmp.Compare(a.String(), b.String()) })
	return slices.Compact(names)
}

func authRefs(auth *v1.GitAuth) []*v1.ResourceRef {
	if auth == nil {
		return nil
	}
	refs := []*v1.ResourceRef{auth.PersonalAccessToken}
	if ssh := auth.SSHAuth; ssh != nil {
		refs = append(refs, &ssh.SSHPrivateKey, ssh.Password, ssh.KnownHosts)
	}
	if basic := auth.BasicAuth; basic != nil {
		refs = append(refs, &basic.UserName, &basic.Password)
	}
	if app := auth.GitHubApp; app != nil {
		refs = append(refs, &app.AppID, &app.InstallationID, &app.PrivateKey)
	}
	return refs
}
