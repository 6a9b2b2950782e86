// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package inplace executes one run in a local directory: it prepares the directory,
// gives the program the permissions of its account, fetches the artifact, and has the
// driver do the rest. The caller chooses the directory and handles the result: a
// controller that executes runs itself, or the pod of a run.
package inplace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/flux-pulumi/pulumi-controller/internal/crash"
	"github.com/flux-pulumi/pulumi-controller/internal/pulumi"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/source"
)

// Driver executes one run. *pulumi.Driver implements it.
type Driver interface {
	Do(ctx context.Context, dir pulumi.Directory, r run.Run, log func(line string)) run.Result
}

// Fetcher fetches the program of a run.
type Fetcher interface {
	// Fetch unpacks the artifact into dir, which is an empty directory.
	Fetch(ctx context.Context, artifact run.Artifact, dir string) error
}

// Accounts gives programs the permissions of service accounts.
type Accounts interface {
	// Open writes the kubeconfig of the account, named config, into the directory, and
	// keeps it valid until the access is closed, even after ctx is done. log receives the errors in
	// between. The returned error says what to do.
	Open(ctx context.Context, dir string, account run.ServiceAccount, log func(line string)) (*run.ClusterAccess, error)
}

// Executor is what runs are executed with.
type Executor struct {
	Driver  Driver
	Fetcher Fetcher
	// Accounts are only needed for runs with a service account.
	Accounts Accounts
	// Identities are only needed for runs with an identity in a cloud.
	Identities Identities
}

// Do prepares the directory, fetches the program and has the driver execute the run.
func (e Executor) Do(ctx context.Context, dir pulumi.Directory, started run.Run, log func(string)) (result run.Result) {
	begin := time.Now()
	defer Recover(&result, started, begin, log)
	failed := func(outcome run.Outcome, err error) run.Result {
		return pulumi.Failure(started, outcome, err, begin)
	}
	if err := dir.Make(); err != nil {
		return failed(run.WorkspaceFailed, err)
	}
	if started.Account.Name != "" && run.KindOf(started.Operation).Program != run.ProgramNever {
		access, err := e.access(ctx, dir, started.Account, log)
		if err != nil {
			return failed(accessOutcome(ctx, err), err)
		}
		defer access.Close()
		started.LateMasks = access.Tokens
	}
	if !started.Identity.IsZero() {
		signedIn, access, err := e.signIn(ctx, dir, started, log)
		if err != nil {
			return failed(accessOutcome(ctx, err), err)
		}
		defer access.Close()
		started = signedIn
	}
	switch artifact := started.Program.Artifact; {
	case started.NeedsArtifact():
		if err := e.fetch(ctx, *artifact, dir.Workspace()); err != nil {
			return failed(fetchOutcome(ctx, err), err)
		}
	case artifact != nil:
		started.Fetch = func(ctx context.Context) error {
			err := e.fetch(ctx, *artifact, dir.Workspace())
			if err != nil {
				err = &run.OutcomeError{Outcome: fetchOutcome(ctx, err), Err: err}
			}
			return err
		}
	}
	if started.LoadsPolicies() {
		if err := e.fetchPolicies(ctx, dir, started.Policies); err != nil {
			return failed(policyOutcome(ctx, err), err)
		}
	}
	result = e.Driver.Do(ctx, dir, started, log)
	result.StartedAt = begin
	return explainRefusal(result, started)
}

// Recover, deferred, makes a panic the result of the run. Nobody knows how far it has come,
// so that a run that may have changed the state counts as interrupted, and is recovered
// from. A panic of one run must not end those of all others.
func Recover(result *run.Result, of run.Run, begin time.Time, log func(string)) {
	caught := crash.Of(recover())
	if caught == nil {
		return
	}
	log(fmt.Sprintf("The run was aborted by a panic:\n%s", caught.Stack))
	*result = pulumi.Failure(of, run.Failed, fmt.Errorf("the run was aborted by an internal error: %w. "+
		"Please report it with the stack trace from the log", caught), begin)
	kind := run.KindOf(of.Operation)
	result.Interrupted = kind.ChangesState || kind.CreatesStack
}

// fetch fetches the artifact and finds the directory of the program in it.
func (e Executor) fetch(ctx context.Context, artifact run.Artifact, workspace string) error {
	if err := e.Fetcher.Fetch(ctx, artifact, workspace); err != nil {
		return err
	}
	_, err := source.ProgramDir(workspace, artifact.Dir)
	return err
}

// fetchPolicies fetches the policy packs, apart from the program and from each other: the same
// source may be there with different packs.
func (e Executor) fetchPolicies(ctx context.Context, dir pulumi.Directory, packs []run.PolicyPack) error {
	for n, pack := range packs {
		to := dir.Policy(n)
		if err := to.Make(); err != nil {
			return fmt.Errorf("%w: %w", source.ErrWorkspace, err)
		}
		if err := e.fetch(ctx, pack.Artifact, to.Workspace()); err != nil {
			return fmt.Errorf("%s: %w", pack.Title(), err)
		}
	}
	return nil
}

// policyOutcome is that of a run without one of its policy packs.
func policyOutcome(ctx context.Context, err error) run.Outcome {
	switch outcome := fetchOutcome(ctx, err); outcome {
	case run.ArtifactFailed, run.ArtifactGone:
		return run.PolicyPackFailed
	default:
		return outcome
	}
}

func fetchOutcome(ctx context.Context, err error) run.Outcome {
	switch {
	case errors.Is(context.Cause(ctx), context.DeadlineExceeded):
		return run.TimedOut
	case ctx.Err() != nil:
		return run.Cancelled
	case errors.Is(err, source.ErrWorkspace):
		return run.WorkspaceFailed
	case errors.Is(err, source.ErrGone):
		return run.ArtifactGone
	}
	return run.ArtifactFailed
}

// access gives the run the permissions of its account. The kubeconfig is where every
// client of Kubernetes looks, and is removed with the home directory of the run.
//
// The variable KUBECONFIG is not set: the SDKs of Pulumi would copy it into the inputs of
// each Kubernetes provider that the program makes. Its path differs for each run, so that
// each update would change the provider, and a destroy from the state would not find it.
func (e Executor) access(ctx context.Context, dir pulumi.Directory, account run.ServiceAccount, log func(string)) (*run.ClusterAccess, error) {
	if e.Accounts == nil {
		return nil, fmt.Errorf("service account '%s' cannot be used here: this controller knows no cluster", account)
	}
	return e.Accounts.Open(ctx, dir.Kube(), account, log)
}

func accessOutcome(ctx context.Context, err error) run.Outcome {
	var path *fs.PathError
	var rename *os.LinkError
	switch {
	case errors.Is(context.Cause(ctx), context.DeadlineExceeded):
		return run.TimedOut
	case ctx.Err() != nil:
		return run.Cancelled
	case errors.As(err, &path), errors.As(err, &rename):
		return run.WorkspaceFailed
	}
	return run.AccountFailed
}
