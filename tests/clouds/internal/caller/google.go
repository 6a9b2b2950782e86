// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package caller

import (
	"context"
	"fmt"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/google"
)

const (
	googleScope = "https://www.googleapis.com/auth/cloud-platform"
	googleURL   = "https://storage.googleapis.com/whoami"
)

type googleClient struct{ tokens oauth2.TokenSource }

func newGoogle(ctx context.Context) (client, error) {
	tokens, err := google.DefaultTokenSource(context.WithoutCancel(ctx), googleScope)
	if err != nil {
		return nil, fmt.Errorf("finding the default credentials of Google Cloud: %w", err)
	}
	return googleClient{tokens: tokens}, nil
}

func (c googleClient) whoAmI(ctx context.Context) (session, error) {
	token, err := c.tokens.Token()
	if err != nil {
		return session{}, err
	}
	identity, err := get(ctx, googleURL, token.AccessToken)
	return session{Identity: identity, ID: token.AccessToken, Expires: token.Expiry}, err
}
