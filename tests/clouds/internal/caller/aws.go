// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package caller

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/sts"
)

type awsClient struct{ config aws.Config }

func newAWS(ctx context.Context) (client, error) {
	loaded, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return nil, fmt.Errorf("loading the default configuration of AWS: %w", err)
	}
	return awsClient{config: loaded}, nil
}

func (c awsClient) whoAmI(ctx context.Context) (session, error) {
	answer, err := sts.NewFromConfig(c.config).GetCallerIdentity(ctx, &sts.GetCallerIdentityInput{})
	if err != nil {
		return session{}, err
	}
	credentials, err := c.config.Credentials.Retrieve(ctx) // from the cache of the SDK
	if err != nil {
		return session{}, err
	}
	return session{Identity: aws.ToString(answer.Arn), ID: credentials.SessionToken, Expires: credentials.Expires}, nil
}
