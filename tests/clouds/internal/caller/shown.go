// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package caller

import (
	"context"
	"errors"
	"fmt"
	"os"

	p "github.com/pulumi/pulumi-go-provider"
)

// shown is no cloud: it shows a token wherever a careless program could.
type shown struct{ variable, asked string }

// fails is what makes it fail, with the token in the error. Otherwise, the token is an output.
const fails = "fail"

func (c shown) whoAmI(ctx context.Context) (session, error) {
	token, err := os.ReadFile(os.Getenv(c.variable))
	if err != nil || len(token) == 0 {
		return session{}, errors.New("the file with the token cannot be read")
	}
	p.GetLogger(ctx).Infof("the log has %s in it", token)
	p.GetLogger(ctx).Warningf("a warning has %s in it", token)
	fmt.Fprintf(os.Stderr, "what is printed has %s in it\n", token)
	if c.asked == fails {
		return session{}, fmt.Errorf("the error has %s in it", token)
	}
	return session{Identity: string(token), ID: "shown"}, nil
}
