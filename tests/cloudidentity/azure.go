// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package cloudidentity

import (
	"encoding/json"
	"errors"
	"net/http"
	"time"
)

const authority = "https://login.microsoftonline.com/"

// entra answers what clients of Microsoft Entra ID ask of it: where the endpoints of a tenant are, and for tokens.
func (c *Clouds) entra() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /common/discovery/instance", func(w http.ResponseWriter, r *http.Request) {
		answerJSON(w, http.StatusOK, map[string]any{
			"tenant_discovery_endpoint": authority + "tenant/v2.0/.well-known/openid-configuration",
			"metadata": []any{map[string]any{
				"preferred_network": "login.microsoftonline.com", "preferred_cache": "login.windows.net",
				"aliases": []string{"login.microsoftonline.com", "login.windows.net"},
			}},
		})
	})
	mux.HandleFunc("GET /{tenant}/v2.0/.well-known/openid-configuration", func(w http.ResponseWriter, r *http.Request) {
		tenant := authority + r.PathValue("tenant")
		answerJSON(w, http.StatusOK, map[string]any{
			"issuer": tenant + "/v2.0", "token_endpoint": tenant + "/oauth2/v2.0/token", "authorization_endpoint": tenant + "/oauth2/v2.0/authorize",
		})
	})
	mux.HandleFunc("POST /{tenant}/oauth2/v2.0/token", c.entraToken)
	return mux
}

func (c *Clouds) entraToken(w http.ResponseWriter, r *http.Request) {
	const assertions = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
	if r.FormValue("grant_type") != "client_credentials" || r.FormValue("client_assertion_type") != assertions {
		refuseJSON(w, http.StatusBadRequest, "unsupported_grant_type", "there is no stand-in for the grant")
		return
	}
	wanted := Trust{Cloud: Azure, Identity: r.PathValue("tenant") + "/" + r.FormValue("client_id")}
	key, expires, err := c.exchange(r.FormValue("client_assertion"), wanted, "")
	switch {
	case errors.Is(err, errDenied):
		refuseJSON(w, http.StatusUnauthorized, "invalid_client", "AADSTS700213: No matching federated identity record found for presented assertion subject.")
	case errors.Is(err, errExpired):
		refuseJSON(w, http.StatusUnauthorized, "invalid_client", "AADSTS700024: Client assertion is not within its valid time range.")
	case errors.Is(err, errAudience):
		refuseJSON(w, http.StatusUnauthorized, "invalid_client", "AADSTS700212: No matching federated identity record found for presented assertion audience.")
	case err != nil:
		refuseJSON(w, http.StatusUnauthorized, "invalid_client", "AADSTS5001256: Failed to complete authentication with external provider.")
	default:
		answerToken(w, key, expires, nil)
	}
}

// answerToken answers with a bearer token as OAuth has it. Seconds are rounded up: a client divides by none.
func answerToken(w http.ResponseWriter, key string, expires time.Time, more map[string]any) {
	answer := map[string]any{"access_token": key, "token_type": "Bearer", "expires_in": int(time.Until(expires)/time.Second) + 1}
	for name, value := range more {
		answer[name] = value
	}
	answerJSON(w, http.StatusOK, answer)
}

func refuseJSON(w http.ResponseWriter, status int, code, description string) {
	answerJSON(w, status, map[string]any{"error": code, "error_description": description})
}

func answerJSON(w http.ResponseWriter, status int, answer any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(answer)
}
