// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package caller

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"
)

// oidcLife is how long a client of a generic service uses what it has read.
const oidcLife = 2 * time.Second

type oidcClient struct{ url, variable string }

func newOIDC(url, variable string) (client, error) {
	if os.Getenv(variable) == "" {
		return nil, fmt.Errorf("the variable %q, which is to name a file with a token, is not set", variable)
	}
	return oidcClient{url: url, variable: variable}, nil
}

// whoAmI reads the file for each call, as the contract of projected tokens wants.
func (c oidcClient) whoAmI(ctx context.Context) (session, error) {
	token, err := os.ReadFile(os.Getenv(c.variable))
	if err != nil {
		return session{}, errors.New("the file with the token cannot be read")
	}
	identity, err := get(ctx, c.url, string(token))
	return session{Identity: identity, ID: string(token), Expires: time.Now().Add(oidcLife)}, err
}
