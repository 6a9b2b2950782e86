// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package cloudidentity

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// keys verify the tokens of an API server.
type keys struct {
	issuer string
	set    jose.JSONWebKeySet
}

type claims = jwt.Claims

// keysOf reads what a cloud reads of an issuer.
func keysOf(ctx context.Context, config *rest.Config) (keys, error) {
	clients, err := kubernetes.NewForConfig(config)
	if err != nil {
		return keys{}, err
	}
	read := func(path string, into any) error {
		text, err := clients.Discovery().RESTClient().Get().AbsPath(path).DoRaw(ctx)
		if err != nil {
			return fmt.Errorf("reading %s of the API server: %w", path, err)
		}
		return json.Unmarshal(text, into)
	}
	var discovered struct {
		Issuer string `json:"issuer"`
	}
	var found keys
	if err := errors.Join(read("/.well-known/openid-configuration", &discovered), read("/openid/v1/jwks", &found.set)); err != nil {
		return keys{}, err
	}
	found.issuer = discovered.Issuer
	return found, nil
}

// verify checks the signature, the issuer and the expiry of a token. It returns what the token claims even if it has
// expired.
func (k keys) verify(token string) (claims, error) {
	parsed, err := jwt.ParseSigned(token, []jose.SignatureAlgorithm{jose.RS256, jose.ES256})
	if err != nil {
		return claims{}, errInvalid
	}
	var claimed claims
	if err := parsed.Claims(k.set, &claimed); err != nil {
		return claims{}, errInvalid
	}
	switch err := claimed.ValidateWithLeeway(jwt.Expected{Issuer: k.issuer}, 0); {
	case errors.Is(err, jwt.ErrExpired):
		return claimed, errExpired
	case err != nil:
		return claimed, errInvalid
	}
	return claimed, nil
}
