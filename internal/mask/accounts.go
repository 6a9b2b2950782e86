// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package mask

import (
	"encoding/base64"
	"encoding/json"
	"regexp"
	"strings"
)

// maskAccountTokens masks the tokens of Kubernetes service accounts, also those
// that this run was not given: a program that once put its token into an output
// has an old one, still valid, in its state.
func maskAccountTokens(text string) string {
	if !strings.Contains(text, "eyJ") {
		return text
	}
	// Three parts in base64 for URLs, of which the first two are JSON objects.
	webToken := regexp.MustCompile(`eyJ[\w-]+\.eyJ[\w-]+\.[\w-]+`)
	var out strings.Builder
	for {
		at := webToken.FindStringIndex(text)
		switch {
		case at == nil:
			out.WriteString(text)
			return out.String()
		case isAccountToken(text[at[0]:at[1]]):
			out.WriteString(text[:at[0]] + maskText)
			text = text[at[1]:]
		default:
			// What looks like one may end in the midst of one.
			next := at[0] + strings.IndexByte(text[at[0]:], '.') + 1
			out.WriteString(text[:next])
			text = text[next:]
		}
	}
}

// isAccountToken tells a token of a service account from any other by whom it
// says it is for.
func isAccountToken(token string) bool {
	payload, err := base64.RawURLEncoding.DecodeString(strings.Split(token, ".")[1])
	if err != nil {
		return false
	}
	var claims struct {
		Subject string `json:"sub"`
	}
	return json.Unmarshal(payload, &claims) == nil && strings.HasPrefix(claims.Subject, "system:serviceaccount:")
}
