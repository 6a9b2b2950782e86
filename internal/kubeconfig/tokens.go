// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package kubeconfig

import (
	"context"
	"fmt"

	"github.com/flux-pulumi/pulumi-controller/internal/crash"
	"github.com/flux-pulumi/pulumi-controller/internal/identity"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// OpenTokens creates the directory in one that exists, and writes the tokens of the account into it, each for its
// audience. They are renewed until the access is closed, even after ctx is done, and then
// removed. log gets a line when one cannot be renewed.
func (a *Accounts) OpenTokens(
	ctx context.Context, dir string, account run.ServiceAccount, tokens []identity.Token, log func(line string),
) (*run.CloudAccess, error) {
	files, err := openFolder(dir)
	if err != nil {
		return nil, err
	}
	going, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var kept []keptToken
	closeAll := func() {
		cancel()
		for _, k := range kept {
			k.renewing.Wait()
			_ = files.root.Remove(k.file) // what is left goes with the directory of the run
		}
		files.close()
	}
	for _, wanted := range tokens {
		k, err := a.keep(ctx, going, files, wanted, account, log)
		if err != nil {
			closeAll()
			return nil, err
		}
		kept = append(kept, k)
	}
	return &run.CloudAccess{
		Dir: dir,
		Tokens: func() []string {
			var all []string
			for _, k := range kept {
				all = append(all, k.renewal.tokens()...)
			}
			return all
		},
		Close: closeAll,
	}, nil
}

// keptToken is a file with a token that is being renewed.
type keptToken struct {
	file     string
	renewal  *renewal
	renewing *crash.Goroutine
}

// keep writes a token to its file, and renews it until going is done.
func (a *Accounts) keep(
	ctx, going context.Context, files folder, wanted identity.Token, account run.ServiceAccount, log func(line string),
) (keptToken, error) {
	audience := wanted.Audience
	first, err := a.token(ctx, account, audience)
	if err != nil {
		return keptToken{}, explained(account, err)
	}
	if err := files.replace(wanted.File, []byte(first.text)); err != nil {
		return keptToken{}, err
	}
	r := &renewal{
		request: func(ctx context.Context) (token, error) { return a.token(ctx, account, audience) },
		write:   func(text string) error { return files.replace(wanted.File, []byte(text)) },
		log: func(err error) {
			log(fmt.Sprintf("failed to renew the token of service account '%s' for audience %s: %v", account, audience, err))
		},
		given: []token{first},
	}
	return keptToken{wanted.File, r, crash.Go(func() { r.run(going, first) })}, nil
}
