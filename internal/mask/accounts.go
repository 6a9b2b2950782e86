// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package mask

import (
	"encoding/base64"
	"encoding/json"
	"regexp"
	"strings"
)

// maskAccountTokens masks all Kubernetes service account tokens, including those the run
// was not given: a program that once put its token into an output still has that old but
// valid token in its state.
func maskAccountTokens(text string) string {
	if !strings.Contains(text, "eyJ") {
		return text
	}
	// A JWT: three base64url parts, the first two of which are JSON objects.
	webToken := regexp.MustCompile(`eyJ[\w-]+\.eyJ[\w-]+\.[\w-]+`)
	var out strings.Builder
	for {
		at := webToken.FindStringIndex(text)
		switch {
		case at == nil:
			out.WriteString(text)
			return out.String()
		case isAccountToken(text[at[0]:at[1]]):
			out.WriteString(text[:at[0]] + MaskText)
			text = text[at[1]:]
		default:
			// A real token may start inside something that only looks like one.
			next := at[0] + strings.IndexByte(text[at[0]:], '.') + 1
			out.WriteString(text[:next])
			text = text[next:]
		}
	}
}

// isAccountToken reports whether the subject of a JWT is a service account.
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
