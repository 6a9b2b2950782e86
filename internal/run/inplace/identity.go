// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package inplace

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/flux-pulumi/pulumi-controller/internal/identity"
	"github.com/flux-pulumi/pulumi-controller/internal/pulumi"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// Identities gives programs tokens for clouds.
type Identities interface {
	// OpenTokens provides the tokens, in the directory or in another one that the access names,
	// and keeps them valid until the access is closed, even after ctx is done. log receives the
	// errors in between. The returned error says what to do.
	OpenTokens(ctx context.Context, dir string, account run.ServiceAccount, tokens []identity.Token, log func(line string)) (*run.CloudAccess, error)
}

// signIn gives the run the tokens, files and variables of its identity. It returns the run with
// them.
func (e Executor) signIn(ctx context.Context, dir pulumi.Directory, started run.Run, log func(string)) (run.Run, *run.CloudAccess, error) {
	if e.Identities == nil {
		return started, nil, fmt.Errorf("service account '%s' cannot be used here: this controller knows no cluster", started.Account)
	}
	access, err := e.Identities.OpenTokens(ctx, dir.Identity(), started.Account, started.Identity.Tokens(), log)
	if err != nil {
		return started, nil, err
	}
	in := identity.Places{Tokens: access.Dir, Files: dir.Identity()}
	if err := writeFiles(started.Identity, in); err != nil {
		access.Close()
		return started, nil, err
	}
	started.Env = started.Identity.Environment(started.Env, in, started.Namespace, started.Name)
	earlier := started.LateMasks
	started.LateMasks = func() []string {
		if earlier == nil {
			return access.Tokens()
		}
		return slices.Concat(earlier(), access.Tokens())
	}
	return started, access, nil
}

// writeFiles writes what is no token.
func writeFiles(of identity.Identity, in identity.Places) error {
	files, err := of.Files(in)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(in.Files, 0o700); err != nil {
		return fmt.Errorf("making the directory of the identity: %w", err)
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(in.Files, name), content, 0o600); err != nil {
			return fmt.Errorf("writing the files of the identity: %w", err)
		}
	}
	return nil
}

// explainRefusal adds to the message of a run that a cloud has refused as whom it was there.
func explainRefusal(result run.Result, of run.Run) run.Result {
	if result.Outcome == run.Succeeded || of.Identity.IsZero() {
		return result
	}
	if why := of.Identity.Explain(result.Message, of.Account.Namespace, of.Account.Name); why != "" {
		result.Message += ". " + why
	}
	return result
}
