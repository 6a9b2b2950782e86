// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package cloudidentity

import (
	"encoding/xml"
	"errors"
	"fmt"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"time"
)

// S3 is a server of buckets, and the only keys that it knows: those are part of all credentials of AWS here, which differ
// by their session tokens.
type S3 struct {
	// Endpoint is a host and a port.
	Endpoint             string
	AccessKey, SecretKey string
}

// serveSTS answers the two actions that providers begin with.
func (c *Clouds) serveSTS(w http.ResponseWriter, r *http.Request) {
	switch r.FormValue("Action") {
	case "AssumeRoleWithWebIdentity":
		c.assumeRole(w, r)
	case "GetCallerIdentity":
		identity, err := c.whose(AWS, r.Header.Get("X-Amz-Security-Token"))
		if err != nil {
			refuseAWS(w, http.StatusForbidden, "ExpiredToken", "The security token included in the request is expired")
			return
		}
		answerXML(w, http.StatusOK, struct {
			XMLName xml.Name `xml:"https://sts.amazonaws.com/doc/2011-06-15/ GetCallerIdentityResponse"`
			Arn     string   `xml:"GetCallerIdentityResult>Arn"`
			UserID  string   `xml:"GetCallerIdentityResult>UserId"`
			Account string   `xml:"GetCallerIdentityResult>Account"`
		}{Arn: identity, UserID: "AROAEXAMPLE:session", Account: "111122223333"})
	default:
		refuseAWS(w, http.StatusBadRequest, "InvalidAction", "there is no stand-in for the action")
	}
}

func (c *Clouds) assumeRole(w http.ResponseWriter, r *http.Request) {
	wanted := Trust{Cloud: AWS, Identity: r.FormValue("RoleArn")}
	key, expires, err := c.exchange(r.FormValue("WebIdentityToken"), wanted, r.FormValue("RoleSessionName"))
	switch {
	case errors.Is(err, errDenied):
		refuseAWS(w, http.StatusForbidden, "AccessDenied", "Not authorized to perform sts:AssumeRoleWithWebIdentity")
	case errors.Is(err, errExpired):
		refuseAWS(w, http.StatusBadRequest, "ExpiredTokenException", "Token expired: current date/time must be before the expiration date/time")
	case errors.Is(err, errAudience):
		refuseAWS(w, http.StatusBadRequest, "InvalidIdentityToken", "Incorrect token audience")
	case err != nil:
		refuseAWS(w, http.StatusBadRequest, "InvalidIdentityToken", "Couldn't retrieve verification key from your identity provider, please reference AssumeRoleWithWebIdentity documentation for requirements")
	default:
		accessKey, secretKey := c.options.S3.AccessKey, c.options.S3.SecretKey
		if accessKey == "" {
			accessKey, secretKey = "ASIAEXAMPLE", "stand-in-secret"
		}
		answerXML(w, http.StatusOK, struct {
			XMLName xml.Name `xml:"https://sts.amazonaws.com/doc/2011-06-15/ AssumeRoleWithWebIdentityResponse"`
			Key     string   `xml:"AssumeRoleWithWebIdentityResult>Credentials>AccessKeyId"`
			Secret  string   `xml:"AssumeRoleWithWebIdentityResult>Credentials>SecretAccessKey"`
			Token   string   `xml:"AssumeRoleWithWebIdentityResult>Credentials>SessionToken"`
			Expires string   `xml:"AssumeRoleWithWebIdentityResult>Credentials>Expiration"`
			Arn     string   `xml:"AssumeRoleWithWebIdentityResult>AssumedRoleUser>Arn"`
			ID      string   `xml:"AssumeRoleWithWebIdentityResult>AssumedRoleUser>AssumedRoleId"`
		}{Key: accessKey, Secret: secretKey, Token: key, Expires: expires.UTC().Format(time.RFC3339Nano), Arn: wanted.Identity, ID: "AROAEXAMPLE:session"})
	}
}

// serveS3 passes requests with credentials of STS that have not expired on to the server of buckets, which verifies their
// signatures.
func (c *Clouds) serveS3(w http.ResponseWriter, r *http.Request) {
	if _, err := c.whose(AWS, r.Header.Get("X-Amz-Security-Token")); err != nil || c.options.S3.Endpoint == "" {
		w.Header().Set("Content-Type", "application/xml")
		w.WriteHeader(http.StatusForbidden)
		_, _ = fmt.Fprint(w, `<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>`)
		return
	}
	// The host that the client has signed stays.
	(&httputil.ReverseProxy{Rewrite: func(p *httputil.ProxyRequest) {
		p.Out.URL.Scheme, p.Out.URL.Host = "http", c.options.S3.Endpoint
		p.Out.URL.RawQuery = p.In.URL.RawQuery
	}}).ServeHTTP(w, r)
}

func refuseAWS(w http.ResponseWriter, status int, code, message string) {
	answerXML(w, status, struct {
		XMLName xml.Name `xml:"https://sts.amazonaws.com/doc/2011-06-15/ ErrorResponse"`
		Type    string   `xml:"Error>Type"`
		Code    string   `xml:"Error>Code"`
		Message string   `xml:"Error>Message"`
		ID      string   `xml:"RequestId"`
	}{Type: "Sender", Code: code, Message: message, ID: "stand-in"})
}

func answerXML(w http.ResponseWriter, status int, answer any) {
	w.Header().Set("Content-Type", "text/xml")
	w.WriteHeader(status)
	_ = xml.NewEncoder(w).Encode(answer)
}

// lastOf returns the last part of a path, unescaped.
func lastOf(path string) string {
	last := path[strings.LastIndexByte(path, '/')+1:]
	if plain, err := url.PathUnescape(last); err == nil {
		return plain
	}
	return last
}
