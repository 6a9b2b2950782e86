// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package kubeconfig

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"

	"github.com/flux-pulumi/pulumi-controller/internal/crash"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

const (
	// tokenLife is the requested lifetime of a token. The API server may grant a
	// different one. It accepts no less than ten minutes.
	tokenLife = time.Hour
	// requestTimeout bounds one token request.
	requestTimeout = 30 * time.Second
)

// Files in the directory passed to Open.
const (
	configFile = "config"
	tokenFile  = "token"
)

// Accounts gives programs the rights of service accounts.
type Accounts struct {
	config *rest.Config
	tokens corev1client.ServiceAccountsGetter
}

// New returns Accounts for the cluster in the configuration. The credentials in it, which
// are the controller's own, are used only to request tokens.
func New(config *rest.Config) (*Accounts, error) {
	tokens, err := corev1client.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("failed to create a client for tokens of service accounts: %w", err)
	}
	return &Accounts{config: config, tokens: tokens}, nil
}

// Open creates the directory in one that exists, and writes a kubeconfig for the account into it. The
// kubeconfig's token is renewed until the access is closed, even after ctx is done: a run
// that is asked to stop still finishes what it has started. log gets a line when a token
// cannot be renewed.
func (a *Accounts) Open(ctx context.Context, dir string, account run.ServiceAccount, log func(line string)) (*run.ClusterAccess, error) {
	first, err := a.token(ctx, account, "")
	if err != nil {
		return nil, explained(account, err)
	}
	text, err := kubeconfig(a.config, account.Namespace, filepath.Join(dir, tokenFile))
	if err != nil {
		return nil, err
	}
	files, err := openFolder(dir)
	if err != nil {
		return nil, err
	}
	for name, content := range map[string][]byte{tokenFile: []byte(first.text), configFile: text} {
		if err := files.replace(name, content); err != nil {
			files.close()
			return nil, err
		}
	}
	r := &renewal{
		request: func(ctx context.Context) (token, error) { return a.token(ctx, account, "") },
		write:   func(text string) error { return files.replace(tokenFile, []byte(text)) },
		log: func(err error) {
			log(fmt.Sprintf("failed to renew the token of service account '%s': %v", account, err))
		},
		given: []token{first},
	}
	going, cancel := context.WithCancel(context.WithoutCancel(ctx))
	renewing := crash.Go(func() { r.run(going, first) })
	return &run.ClusterAccess{
		Tokens: r.tokens,
		Close: func() {
			cancel()
			renewing.Wait()
			files.close()
		},
	}, nil
}

// Check returns why the account cannot be used, before anything is done with it. It
// requests a token and drops it.
func (a *Accounts) Check(ctx context.Context, account run.ServiceAccount) error {
	if _, err := a.token(ctx, account, ""); err != nil {
		return explained(account, err)
	}
	return nil
}

// token requests a token from the API server, for the audience, or for the API server itself if
// that is "".
func (a *Accounts) token(ctx context.Context, account run.ServiceAccount, audience string) (token, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	asked := time.Now()
	spec := authenticationv1.TokenRequestSpec{ExpirationSeconds: ptr.To(int64(tokenLife.Seconds()))}
	if audience != "" {
		spec.Audiences = []string{audience}
	}
	answer, err := a.tokens.ServiceAccounts(account.Namespace).CreateToken(ctx, account.Name, &authenticationv1.TokenRequest{Spec: spec}, metav1.CreateOptions{})
	if err != nil {
		return token{}, err
	}
	return token{text: answer.Status.Token, asked: asked, expires: answer.Status.ExpirationTimestamp.Time}, nil
}

// explained says what to do about a failed token request.
func explained(account run.ServiceAccount, err error) error {
	switch {
	case apierrors.IsNotFound(err):
		return fmt.Errorf("service account '%s' not found: create it, or name another in spec.serviceAccountName", account)
	case apierrors.IsForbidden(err):
		return fmt.Errorf("the controller is not allowed to create a token for service "+
			"account '%s': allow it to create serviceaccounts/token: %w", account, err)
	}
	return fmt.Errorf("creating a token for service account '%s': %w", account, err)
}
