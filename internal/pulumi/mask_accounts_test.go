// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"encoding/base64"
	"testing"

	. "github.com/onsi/gomega"
)

// webToken is an unsigned token with the claims.
func webToken(claims string) string {
	part := base64.RawURLEncoding.EncodeToString
	return part([]byte(`{"alg":"RS256","kid":"x"}`)) + "." + part([]byte(claims)) + "." + part([]byte("a signature"))
}

func TestTokensOfServiceAccountsAreMasked(t *testing.T) {
	account := webToken(`{"iss":"kubernetes","sub":"system:serviceaccount:apps:deployer"}`)
	user := webToken(`{"iss":"example.com","sub":"alice"}`)
	for name, test := range map[string]struct{ text, want string }{
		"alone":                     {account, "***"},
		"in a text":                 {"it is " + account + ", isn't it", "it is ***, isn't it"},
		"twice, in JSON":            {`["` + account + `","` + account + `"]`, `["***","***"]`},
		"of somebody else":          {user, user},
		"both":                      {user + " " + account, user + " ***"},
		"no JSON in it":             {"eyJhbGciOi.eyJub3Q.x", "eyJhbGciOi.eyJub3Q.x"},
		"no base64 in it":           {"eyJhbGciOi.eyJ-_-_-.x", "eyJhbGciOi.eyJ-_-_-.x"},
		"nothing of the kind":       {"hello eyJ", "hello eyJ"},
		"a subject that is no text": {webToken(`{"sub":1}`), webToken(`{"sub":1}`)},
	} {
		NewWithT(t).Expect(newMasker(nil).apply(test.text)).To(Equal(test.want), name)
	}
}
