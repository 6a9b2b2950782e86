// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package caller

import (
	"context"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
)

const (
	azureScope = "https://management.azure.com/.default"
	azureURL   = "https://management.azure.com/whoami"
)

type azureClient struct {
	credential *azidentity.WorkloadIdentityCredential
}

// newAzure takes the credential that the default one chooses in a pod with workload identity.
func newAzure() (client, error) {
	credential, err := azidentity.NewWorkloadIdentityCredential(nil)
	if err != nil {
		return nil, fmt.Errorf("making a credential of Azure: %w", err)
	}
	return azureClient{credential: credential}, nil
}

func (c azureClient) whoAmI(ctx context.Context) (session, error) {
	token, err := c.credential.GetToken(ctx, policy.TokenRequestOptions{Scopes: []string{azureScope}})
	if err != nil {
		return session{}, err
	}
	identity, err := get(ctx, azureURL, token.Token)
	return session{Identity: identity, ID: token.Token, Expires: token.ExpiresOn}, err
}
