// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"
	"errors"
	"fmt"

	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/gitsource"
	"github.com/flux-pulumi/pulumi-controller/internal/inputs"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/source"
	"github.com/flux-pulumi/pulumi-controller/internal/stackstatus"
)

// upkept says that the upkeep of the Git objects was done in this reconcile. The cache may
// not show that yet.
type upkept struct{ err error }

// due notes what is due for the Git objects, or returns what became of it.
func (seen *Observation) due(upkeep *gitsource.Upkeep) error {
	switch {
	case seen.upkept != nil:
		return seen.upkept.err
	case upkeep != nil:
		seen.Upkeep, seen.GitObjects = upkeep, upkeep.String()
	}
	return nil
}

// gitProgram finds the program of a projectRepo, in the GitRepository that fetches it.
func (o *Observer) gitProgram(ctx context.Context, stack *v1.Stack, seen *Observation) (Program, error) {
	if err := gitsource.CheckOutputs(stack); err != nil {
		return Program{}, err
	}
	remote, err := gitsource.ParseURL(stack.Spec.ProjectRepo)
	if err != nil {
		return Program{}, err
	}
	if err := o.watch(sourcev1.GitRepositoryKind); err != nil {
		return Program{}, err
	}
	repo, errOfRepo := o.readGitRepository(ctx, stack)
	basis := o.gitBasis(ctx, stack, repo)
	if _, ok := o.Results.Get(stack.UID, aboutGit, basis); ok {
		if found, err := source.OfKept(repo, func(text string) string { return text }); err == nil {
			return fetchedProgram(stack, found), nil
		}
	}
	values := inputs.NewValues(o.APIReader, stack.Namespace, o.inputOptions())
	credentials, err := gitsource.Resolve(ctx, values, stack.Spec.GitSource, remote)
	if err != nil {
		return Program{}, err
	}
	if errOfRepo != nil {
		return Program{}, errOfRepo
	}
	if o.AssumeUnchanged && repo == nil {
		return fetchedProgram(stack, &source.Source{Revision: stackstatus.UnchangedRevision(stack)}), nil
	}
	secret, err := o.readGitSecret(ctx, stack, credentials)
	if err != nil {
		return Program{}, err
	}
	wanted := gitsource.Wanted{Spec: gitsource.Spec(stack, remote, credentials), Data: credentials.Data, Request: openRequest(stack)}
	upkeep := gitsource.Plan(stack, wanted, repo, secret, seen.Now)
	if err := seen.due(upkeep); err != nil {
		return Program{}, err
	}
	expected := repo
	if upkeep != nil && upkeep.Expected(seen.Now) != nil {
		expected = upkeep.Expected(seen.Now)
	}
	found, err := source.OfKept(expected, credentials.Mask)
	if err != nil {
		return Program{}, err
	}
	if upkeep == nil {
		o.Results.Keep(stack.UID, aboutGit, basis, Result{})
	}
	return fetchedProgram(stack, found), nil
}

// readGitRepository reads the GitRepository of the Stack. It returns nil if there is none.
func (o *Observer) readGitRepository(ctx context.Context, stack *v1.Stack) (*sourcev1.GitRepository, error) {
	key := client.ObjectKey{Namespace: stack.Namespace, Name: gitsource.Name(stack.Name)}
	repo := &sourcev1.GitRepository{}
	found, err := gitsource.ReadOwned(ctx, o.Cached, stack, key, repo)
	var notOwned *gitsource.NotOwnedError
	switch {
	case errors.As(err, &notOwned):
		return nil, err
	case err != nil:
		return nil, source.ReadError(sourcev1.GitRepositoryKind, key, err)
	case !found:
		return nil, nil
	case !repo.DeletionTimestamp.IsZero():
		return nil, source.Fetching(fmt.Sprintf("GitRepository %s is being deleted: the controller creates it again afterwards", key))
	}
	return repo, nil
}

// readGitSecret reads the Secret of the GitRepository. It returns nil if there is none, and
// for one that is neither needed nor owned by the Stack.
func (o *Observer) readGitSecret(ctx context.Context, stack *v1.Stack, credentials gitsource.Credentials) (*corev1.Secret, error) {
	key := client.ObjectKey{Namespace: stack.Namespace, Name: gitsource.SecretName(stack.Name)}
	secret := &corev1.Secret{}
	found, err := gitsource.ReadOwned(ctx, o.APIReader, stack, key, secret)
	var notOwned *gitsource.NotOwnedError
	switch {
	case errors.As(err, &notOwned) && credentials.Data == nil:
		return nil, nil
	case errors.As(err, &notOwned):
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("failed to read Secret %s: %w", key, err)
	case !found:
		return nil, nil
	}
	return secret, nil
}

func fetchedProgram(stack *v1.Stack, found *source.Source) Program {
	return Program{
		Program:  run.Program{Artifact: &run.Artifact{URL: found.URL, Digest: found.Digest, Dir: stack.Spec.RepoDir}},
		Revision: found.Revision,
		Digest:   found.Digest,
	}
}

// gitBasis returns what it depends on whether the Git objects are as they should be. The
// Secret of a GitRepository that uses none need not exist.
func (o *Observer) gitBasis(ctx context.Context, stack *v1.Stack, repo *sourcev1.GitRepository) Basis {
	if repo == nil || stack.Status.GitRepository != repo.Name {
		return Basis{}
	}
	var secrets []types.NamespacedName
	for _, key := range gitsource.SecretRefs(stack) {
		if repo.Spec.SecretRef != nil || key.Name != gitsource.SecretName(stack.Name) {
			secrets = append(secrets, key)
		}
	}
	return o.Results.Basis(ctx, secrets, nil, generation(stack), string(repo.UID), repo.ResourceVersion, openRequest(stack))
}

// openRequest returns the request for a run that is still to be passed on to the
// GitRepository, "" if there is none.
func openRequest(stack *v1.Stack) string {
	switch {
	case stackstatus.IsOpenRequest(stack, meta.ReconcileRequestAnnotation, stack.Status.LastHandledReconcileAt):
		return stackstatus.RequestToken(stack.Annotations[meta.ReconcileRequestAnnotation])
	case stackstatus.IsOpenRequest(stack, v1.ReconcileRequestAnnotation, stack.Status.ObservedReconcileRequest):
		return stackstatus.RequestToken(stack.Annotations[v1.ReconcileRequestAnnotation])
	}
	return ""
}

// observeSuspended finds out whether the polling of a suspended Stack is to be stopped. If
// that cannot be known, it is left: a suspended Stack must not fail.
func (o *Observer) observeSuspended(ctx context.Context, stack *v1.Stack, seen *Observation) error {
	if stack.Spec.ProjectRepo == "" || stack.Status.GitRepository == "" {
		return nil
	}
	key := client.ObjectKey{Namespace: stack.Namespace, Name: gitsource.Name(stack.Name)}
	repo := &sourcev1.GitRepository{}
	if found, err := gitsource.ReadOwned(ctx, o.Cached, stack, key, repo); err != nil || !found {
		return nil
	}
	return seen.due(gitsource.PlanSuspension(repo))
}

// watch watches a kind of source, if anything does.
func (o *Observer) watch(kind string) error {
	if o.WatchSource == nil {
		return nil
	}
	return o.WatchSource(kind)
}

// inputOptions returns the rules for what a Stack may refer to.
func (o *Observer) inputOptions() inputs.Options {
	return inputs.Options{NoCrossNamespaceRefs: o.NoCrossNamespaceRefs, Controller: o.ControllerRefs}
}
