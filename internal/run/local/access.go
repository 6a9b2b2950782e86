// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"

	"github.com/flux-pulumi/pulumi-controller/internal/pulumi"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// kubeconfigVariable is where programs are told of their kubeconfig.
const kubeconfigVariable = "KUBECONFIG"

// access gives the run the rights of its account. The kubeconfig is in the home
// of the run, and is removed with it.
func (r *Runner) access(ctx context.Context, dir pulumi.Directory, account run.ServiceAccount, log func(string)) (*run.ClusterAccess, error) {
	if r.options.Accounts == nil {
		return nil, fmt.Errorf("service account '%s' cannot be used here: this controller knows no cluster", account)
	}
	return r.options.Accounts.Open(ctx, dir.Kube(), account, log)
}

// withAccess is the run with the kubeconfig, whatever its environment had in that
// place. No text of the run may show any of the tokens.
func withAccess(started run.Run, access *run.ClusterAccess) run.Run {
	env := make(map[string]string, len(started.Env)+1)
	maps.Copy(env, started.Env)
	env[kubeconfigVariable] = access.Kubeconfig
	started.Env = env
	started.LateMasks = access.Tokens
	return started
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
