// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// The audiences of tokens. That for Google Cloud is the name of the provider.
const (
	AWSAudience   = "sts.amazonaws.com"
	AzureAudience = "api://AzureADTokenExchange"

	googleAudiencePrefix = "//iam.googleapis.com/"
)

// The names of the files with tokens, and of the credentials file of Google Cloud.
const (
	awsFile               = "aws-token"
	azureFile             = "azure-token"
	googleFile            = "google-token"
	googleCredentialsFile = "google-credentials.json"
	otherFileSuffix       = ".token"
)

// OtherVariablePrefix is that of the variables that name the files of other tokens, as in
// OIDC_TOKEN_FILE_VAULT.
const OtherVariablePrefix = "OIDC_TOKEN_FILE_"

// Token is one that a run needs, and the name of its file.
type Token struct {
	File, Audience string
}

// Tokens returns the tokens that a run needs.
func (i Identity) Tokens() []Token {
	var tokens []Token
	if i.AWS != nil {
		tokens = append(tokens, Token{awsFile, AWSAudience})
	}
	if i.Azure != nil {
		tokens = append(tokens, Token{azureFile, AzureAudience})
	}
	if i.Google != nil {
		tokens = append(tokens, Token{googleFile, i.Google.audience()})
	}
	for _, other := range i.Other {
		tokens = append(tokens, Token{other.Name + otherFileSuffix, other.Audience})
	}
	return tokens
}

// Places are the absolute paths of two directories, which may be the same.
type Places struct {
	// Tokens is where the tokens are, and Files where the other files are.
	Tokens, Files string
}

// Files returns the other files that a run needs, by name. None of them is a secret.
func (i Identity) Files(in Places) (map[string][]byte, error) {
	if i.Google == nil {
		return nil, nil
	}
	credentials := externalAccount{
		Type:             "external_account",
		Audience:         i.Google.audience(),
		SubjectTokenType: "urn:ietf:params:oauth:token-type:jwt",
		TokenURL:         "https://sts.googleapis.com/v1/token",
		UniverseDomain:   "googleapis.com",
	}
	credentials.Source.File = filepath.Join(in.Tokens, googleFile)
	credentials.Source.Format.Type = "text"
	if i.Google.Account != "" {
		credentials.ImpersonationURL = "https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/" + i.Google.Account + ":generateAccessToken"
	} else {
		credentials.TokenInfoURL = "https://sts.googleapis.com/v1/introspect"
	}
	text, err := json.MarshalIndent(credentials, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("writing the credentials of Google Cloud: %w", err)
	}
	return map[string][]byte{googleCredentialsFile: text}, nil
}

// externalAccount is the credentials file of workload identity federation.
type externalAccount struct {
	Type             string `json:"type"`
	Audience         string `json:"audience"`
	SubjectTokenType string `json:"subject_token_type"`
	TokenURL         string `json:"token_url"`
	TokenInfoURL     string `json:"token_info_url,omitempty"`
	ImpersonationURL string `json:"service_account_impersonation_url,omitempty"`
	UniverseDomain   string `json:"universe_domain"`
	Source           struct {
		File   string `json:"file"`
		Format struct {
			Type string `json:"type"`
		} `json:"format"`
	} `json:"credential_source"`
}

// Variables returns the environment variables of a run of the Stack.
func (i Identity) Variables(in Places, namespace, stack string) map[string]string {
	variables := map[string]string{}
	if i.AWS != nil {
		variables["AWS_ROLE_ARN"] = i.AWS.Role
		variables["AWS_WEB_IDENTITY_TOKEN_FILE"] = filepath.Join(in.Tokens, awsFile)
		variables["AWS_ROLE_SESSION_NAME"] = sessionName(namespace, stack)
	}
	if i.Azure != nil {
		file := filepath.Join(in.Tokens, azureFile)
		// The first are those of the SDKs, and so of the backend and the secrets provider. The
		// others are those of the providers.
		maps.Copy(variables, map[string]string{
			"AZURE_CLIENT_ID": i.Azure.Client, "AZURE_TENANT_ID": i.Azure.Tenant,
			"AZURE_FEDERATED_TOKEN_FILE": file, azureAuthority: "https://login.microsoftonline.com/",
			"ARM_USE_OIDC": "true", "ARM_CLIENT_ID": i.Azure.Client, "ARM_TENANT_ID": i.Azure.Tenant, "ARM_OIDC_TOKEN_FILE_PATH": file,
		})
	}
	if i.Google != nil {
		variables["GOOGLE_APPLICATION_CREDENTIALS"] = filepath.Join(in.Files, googleCredentialsFile)
	}
	for _, other := range i.Other {
		variables[other.variable()] = filepath.Join(in.Tokens, other.Name+otherFileSuffix)
	}
	return variables
}

// azureAuthority is not part of an identity, but where it is: a Stack may set its own, for
// another cloud of Azure.
const azureAuthority = "AZURE_AUTHORITY_HOST"

// Environment returns the variables of a run: those of the Stack, and those of its identity.
func (i Identity) Environment(own map[string]string, in Places, namespace, stack string) map[string]string {
	all := maps.Clone(own)
	if all == nil {
		all = map[string]string{}
	}
	for name, value := range i.Variables(in, namespace, stack) {
		if name == azureAuthority && all[name] != "" {
			continue
		}
		all[name] = value
	}
	return all
}

// Conflict returns a variable of the Stack that the identity sets too, or that every SDK would
// use in its place, and the annotation. It returns "" if there is none.
func (i Identity) Conflict(own map[string]string) (variable, annotation string) {
	for _, name := range slices.Sorted(maps.Keys(own)) {
		if annotation := i.annotationOf(name); annotation != "" {
			return name, annotation
		}
	}
	return "", ""
}

// annotationOf returns the annotation that leaves no room for a variable of the Stack.
func (i Identity) annotationOf(name string) string {
	set := i.Variables(Places{}, "", "")
	delete(set, azureAuthority)
	_, isSet := set[name]
	switch {
	case i.AWS != nil && (isSet && strings.HasPrefix(name, "AWS_") || slices.Contains(awsFirst(), name)):
		return AWSRoleAnnotation
	case i.Azure != nil && (isSet && (strings.HasPrefix(name, "AZURE_") || strings.HasPrefix(name, "ARM_")) || slices.Contains(azureFirst(), name)):
		return AzureClientAnnotation
	case i.Google != nil && (isSet && strings.HasPrefix(name, "GOOGLE_") || slices.Contains(googleFirst(), name)):
		return GoogleProviderAnnotation
	case isSet:
		return AudiencesAnnotation
	}
	return ""
}

// awsFirst and its siblings list the variables with credentials that come first for the SDKs or
// the providers. A Stack that has them beside an annotation would silently not use the identity.
func awsFirst() []string {
	return []string{
		"AWS_ACCESS_KEY_ID", "AWS_ACCESS_KEY", "AWS_SECRET_ACCESS_KEY", "AWS_SECRET_KEY", "AWS_SESSION_TOKEN",
		"AWS_PROFILE", "AWS_DEFAULT_PROFILE",
	}
}

func azureFirst() []string {
	return []string{
		"AZURE_CLIENT_SECRET", "AZURE_CLIENT_CERTIFICATE_PATH", "AZURE_USERNAME", "AZURE_PASSWORD",
		"ARM_CLIENT_SECRET", "ARM_CLIENT_SECRET_FILE_PATH", "ARM_CLIENT_CERTIFICATE", "ARM_CLIENT_CERTIFICATE_PATH",
		"ARM_OIDC_TOKEN", "ARM_USE_MSI",
	}
}

func googleFirst() []string {
	return []string{"GOOGLE_CREDENTIALS", "GOOGLE_CLOUD_KEYFILE_JSON", "GCLOUD_KEYFILE_JSON", "GOOGLE_OAUTH_ACCESS_TOKEN"}
}

// Outranked returns a variable with credentials that come before the identity, and the annotation. Unlike
// Conflict, it lets others set the variables of the identity, as the webhooks of clouds do in pods: those
// of the run take their place.
func (i Identity) Outranked(environ map[string]string) (variable, annotation string) {
	for _, cloud := range []struct {
		has        bool
		first      []string
		annotation string
	}{
		{i.AWS != nil, awsFirst(), AWSRoleAnnotation},
		{i.Azure != nil, azureFirst(), AzureClientAnnotation},
		{i.Google != nil, googleFirst(), GoogleProviderAnnotation},
	} {
		for _, name := range cloud.first {
			if cloud.has && environ[name] != "" {
				return name, cloud.annotation
			}
		}
	}
	return "", ""
}

func (g Google) audience() string { return googleAudiencePrefix + g.Provider }

func (a Audience) variable() string {
	return OtherVariablePrefix + strings.ToUpper(strings.ReplaceAll(a.Name, "-", "_"))
}

// maxSession is how long AWS lets the name of a session be.
const maxSession = 64

// sessionName names the Stack in the log of AWS. Whatever of it does not fit is a hash.
func sessionName(namespace, stack string) string {
	name := namespace + "." + stack
	if len(name) <= maxSession {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	hash := hex.EncodeToString(sum[:5])
	return name[:maxSession-len(hash)-1] + "." + hash
}
