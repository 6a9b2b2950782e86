// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// Text returns the identity in canonical form, for a digest of it. It is "" for none.
func (i Identity) Text() (string, error) {
	if i.IsZero() {
		return "", nil
	}
	text, err := json.Marshal(i)
	if err != nil {
		return "", fmt.Errorf("digest of the identity: %w", err)
	}
	return string(text), nil
}

// Lines says for each cloud as what the program signs in there, and for which audience its
// token is.
func (i Identity) Lines() []string {
	var lines []string
	if i.AWS != nil {
		lines = append(lines, i.AWS.line())
	}
	if i.Azure != nil {
		lines = append(lines, i.Azure.line())
	}
	if i.Google != nil {
		lines = append(lines, i.Google.line())
	}
	for _, other := range i.Other {
		lines = append(lines, fmt.Sprintf("%s names a token with audience %s", other.variable(), other.Audience))
	}
	return lines
}

func (a AWS) line() string { return fmt.Sprintf("role %s of AWS, audience %s", a.Role, AWSAudience) }

func (a Azure) line() string {
	return fmt.Sprintf("client %s of Azure tenant %s, audience %s", a.Client, a.Tenant, AzureAudience)
}

func (g Google) line() string {
	if g.Account != "" {
		return fmt.Sprintf("account %s of Google Cloud, audience %s", g.Account, g.audience())
	}
	return fmt.Sprintf("principal of Google Cloud, audience %s", g.audience())
}

// Explain returns a sentence for a message in which a cloud refuses the identity: who the
// program is there, and which token it has shown. It returns "" for any other message. The
// subject is that of the token.
func (i Identity) Explain(message, namespace, account string) string {
	who := ""
	switch {
	case i.AWS != nil && awsRefusal.MatchString(message):
		who = i.AWS.line()
	case i.Azure != nil && azureRefusal.MatchString(message):
		who = i.Azure.line()
	case i.Google != nil && googleRefusal.MatchString(message):
		who = i.Google.line()
	default:
		return ""
	}
	if account == "" {
		return fmt.Sprintf("The program is %s: check what this identity trusts, and what it may do", who)
	}
	return fmt.Sprintf("The program is %s, subject %s: check what this identity trusts, and what it may do", who, Subject(namespace, account))
}

// Subject returns the subject of the tokens of a service account, which the trust of a cloud
// names.
func Subject(namespace, account string) string {
	return strings.Join([]string{"system:serviceaccount", namespace, account}, ":")
}

// The words with which a cloud refuses a token or a call. They have to be those of one cloud
// only, for a Stack with more than one.
var (
	awsRefusal = regexp.MustCompile(`\b(AccessDenied|AccessDeniedException|UnauthorizedOperation|InvalidIdentityToken|ExpiredToken|ExpiredTokenException|` +
		`IDPRejectedClaim|IDPCommunicationError|AssumeRoleWithWebIdentity|is not authorized to perform|get credentials: failed to refresh cached credentials)\b`)
	azureRefusal = regexp.MustCompile(`\b(AADSTS\d+|AuthorizationFailed|AuthorizationPermissionMismatch|WorkloadIdentityCredential|ClientAssertionCredential|` +
		`DefaultAzureCredential|does not have authorization to perform action)\b`)
	googleRefusal = regexp.MustCompile(`(oauth2/google: |invalid_grant|invalid_target|PERMISSION_DENIED|iam\.serviceAccounts\.getAccessToken|` +
		`does not have [\w.-]+ access|forbidden: .*googleapis|Error 403: )`)
)
