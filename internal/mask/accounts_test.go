// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package mask

import (
	"encoding/base64"
	"encoding/json"
	"strings"
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
		"of a user":                 {user, user},
		"both":                      {user + " " + account, user + " ***"},
		"no JSON in it":             {"eyJhbGciOi.eyJub3Q.x", "eyJhbGciOi.eyJub3Q.x"},
		"no base64 in it":           {"eyJhbGciOi.eyJ-_-_-.x", "eyJhbGciOi.eyJ-_-_-.x"},
		"nothing of the kind":       {"hello eyJ", "hello eyJ"},
		"a subject that is no text": {webToken(`{"sub":1}`), webToken(`{"sub":1}`)},
	} {
		NewWithT(t).Expect(New(nil).Apply(test.text)).To(Equal(test.want), name)
	}
}

// FuzzAccountTokens: a service account token is found wherever it is.
func FuzzAccountTokens(f *testing.F) {
	f.Add("", "", "")
	f.Add("Bearer ", "\n", "default:app")
	f.Add("eyJa.eyJb.", ".eyJ", "a:b")
	f.Add(`{"token":"`, `"}`, "\u2028")
	f.Fuzz(func(t *testing.T, before, after, account string) {
		claims, err := json.Marshal(map[string]string{"iss": "https://kubernetes", "sub": "system:serviceaccount:" + account})
		if err != nil {
			t.Fatal(err)
		}
		payload := base64.RawURLEncoding.EncodeToString(claims)
		token := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"RS256"}`)) + "." + payload + ".c2ln"
		masked := maskAccountTokens(before + token + after)
		if strings.Contains(masked, token) {
			t.Errorf("the token is in %q", masked)
		}
		if again := maskAccountTokens(masked); again != masked {
			t.Errorf("%q has more to mask", masked)
		}
	})
}
