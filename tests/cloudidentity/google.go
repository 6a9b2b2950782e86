// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package cloudidentity

import (
	"errors"
	"net/http"
	"strings"
	"time"
)

// federated begins the identity of who has no service account of Google.
const federated = "principal:"

// serveGoogleSTS exchanges a token for one of the federation. It holds for the subject itself, whom the IAM may let have a
// service account.
func (c *Clouds) serveGoogleSTS(w http.ResponseWriter, r *http.Request) {
	token := r.FormValue("subject_token")
	claimed, err := c.keys.verify(token)
	audience := strings.TrimPrefix(r.FormValue("audience"), "//iam.googleapis.com/")
	var key string
	var expires time.Time
	if err == nil {
		key, expires, err = c.exchange(token, Trust{Cloud: Google, Identity: federated + audience + ":" + claimed.Subject}, "")
	}
	switch {
	case errors.Is(err, errExpired):
		refuseJSON(w, http.StatusBadRequest, "invalid_grant", "ID Token issued at is stale to sign-in.")
	case errors.Is(err, errAudience):
		refuseJSON(w, http.StatusBadRequest, "invalid_grant", "The audience in ID Token does not match the expected audience.")
	case errors.Is(err, errDenied):
		refuseJSON(w, http.StatusForbidden, "unauthorized_client", "The given credential is rejected by the attribute condition.")
	case err != nil:
		refuseJSON(w, http.StatusBadRequest, "invalid_grant", "Error connecting to the given credential's issuer.")
	default:
		answerToken(w, key, expires, map[string]any{"issued_token_type": "urn:ietf:params:oauth:token-type:access_token"})
	}
}

// Federated is the identity of a subject in a pool of Google, which is written as the resource name of its provider.
func Federated(provider, subject string) string { return federated + provider + ":" + subject }

// serveIAM exchanges a token of the federation for one of a service account.
func (c *Clouds) serveIAM(w http.ResponseWriter, r *http.Request) {
	account := strings.TrimSuffix(lastOf(r.URL.EscapedPath()), ":generateAccessToken")
	caller, err := c.whose(Google, bearer(r))
	if err == nil {
		err = c.mayImpersonate(caller, account)
	}
	if err != nil {
		answerJSON(w, http.StatusForbidden, map[string]any{"error": map[string]any{
			"code": http.StatusForbidden, "status": "PERMISSION_DENIED",
			"message": "Permission 'iam.serviceAccounts.getAccessToken' denied on resource (or it may not exist).",
		}})
		return
	}
	key, expires := c.impersonate(account)
	answerJSON(w, http.StatusOK, map[string]any{"accessToken": key, "expireTime": expires.UTC().Format(time.RFC3339)})
}
