// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package cloudidentity stands in for the services of clouds that exchange tokens of service accounts for credentials:
// AWS STS, Microsoft Entra ID, Google's STS and IAM Credentials, and a service that accepts OIDC tokens as they are. It
// verifies tokens as the clouds do, by the keys that the real API server publishes, and then issues credentials that
// expire within seconds.
//
// Clients reach it under the real names of the services, through a proxy that passes on nothing else, so that they need
// no endpoint of their own: only the proxy and the certificate of Env. It must not import testing, and knows nothing of
// Stacks.
package cloudidentity

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/client-go/rest"
)

// The clouds.
const (
	AWS    = "aws"
	Azure  = "azure"
	Google = "gcp"
	OIDC   = "oidc"
)

// underWay is how long after its expiry a session is still accepted, for requests that were made just before.
const underWay = 5 * time.Second

// OIDCURL is the address of the service that accepts tokens as they are.
const OIDCURL = "https://oidc.example.com/whoami"

// Options of the Clouds.
type Options struct {
	// Config of a client that may read the keys of the API server.
	Config *rest.Config
	// Dir for the certificate.
	Dir string
	// Life of the credentials.
	Life time.Duration
	// S3 is what keeps the buckets of AWS, if there are any.
	S3 S3
}

// Trust is what an administrator of a cloud sets up: who may become what.
type Trust struct {
	Cloud string
	// Subject is that of the tokens of a service account, and Audience the one that the cloud expects.
	Subject, Audience string
	// Identity is the ARN of a role, the ID of a client of a tenant as tenant/client, or the e-mail address of a service
	// account of Google.
	Identity string
	// Newest is how old a token may be, to have tokens expire sooner than the API server allows. Zero is the expiry in it.
	Newest time.Duration
}

// Exchange is an exchange of a token for credentials, whether or not it succeeded.
type Exchange struct {
	Cloud, Subject, Identity string
	// Token is the ID of the token.
	Token string
	// Session is the name that the client gave to the session, if the cloud has such names.
	Session string
	// Refused is the answer if it was not successful.
	Refused string
}

// session is what credentials are good for.
type session struct {
	cloud, identity string
	expires         time.Time
}

// Clouds are the stand-ins.
type Clouds struct {
	options Options
	keys    keys
	proxy   *proxy

	mu        sync.Mutex
	trusts    []Trust
	exchanges []Exchange
	sessions  map[string]session
}

// Start starts the stand-ins.
func Start(ctx context.Context, options Options) (*Clouds, error) {
	c := &Clouds{options: options, sessions: map[string]session{}}
	var err error
	if c.keys, err = keysOf(ctx, options.Config); err != nil {
		return nil, err
	}
	if c.proxy, err = startProxy(options.Dir, c.services()); err != nil {
		return nil, err
	}
	return c, nil
}

// services maps the names of hosts, or what they end with, to who answers.
func (c *Clouds) services() map[string]http.Handler {
	return map[string]http.Handler{
		"sts.amazonaws.com": http.HandlerFunc(c.serveSTS), "sts.us-east-1.amazonaws.com": http.HandlerFunc(c.serveSTS),
		"s3.us-east-1.amazonaws.com": http.HandlerFunc(c.serveS3), "s3.amazonaws.com": http.HandlerFunc(c.serveS3),
		"login.microsoftonline.com": c.entra(), "management.azure.com": c.whoami(Azure),
		"sts.googleapis.com": http.HandlerFunc(c.serveGoogleSTS), "iamcredentials.googleapis.com": http.HandlerFunc(c.serveIAM),
		"storage.googleapis.com": c.whoami(Google),
		"oidc.example.com":       http.HandlerFunc(c.serveOIDC),
	}
}

// Close stops the stand-ins.
func (c *Clouds) Close() error { return c.proxy.close() }

// Env is the environment that clients need to reach the stand-ins.
func (c *Clouds) Env() map[string]string {
	return map[string]string{"HTTPS_PROXY": c.proxy.url(), "SSL_CERT_FILE": c.proxy.certificate}
}

// Allow adds what the clouds trust.
func (c *Clouds) Allow(trusts ...Trust) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.trusts = append(c.trusts, trusts...)
}

// Exchanges are those of the tokens of a subject, in their order.
func (c *Clouds) Exchanges(subject string) []Exchange {
	c.mu.Lock()
	defer c.mu.Unlock()
	var found []Exchange
	for _, exchange := range c.exchanges {
		if exchange.Subject == subject {
			found = append(found, exchange)
		}
	}
	return found
}

// The reasons why a token is refused, which each cloud words in its own way.
var (
	errInvalid  = errors.New("the token is not valid")
	errExpired  = errors.New("the token has expired")
	errAudience = errors.New("the token is for another audience")
	errDenied   = errors.New("the subject may not have this identity")
)

// exchange verifies a token and returns the key of a new session.
func (c *Clouds) exchange(token string, wanted Trust, name string) (key string, expires time.Time, err error) {
	claims, err := c.keys.verify(token)
	c.mu.Lock()
	defer c.mu.Unlock()
	if err == nil {
		err = c.allowed(claims, wanted)
	}
	done := Exchange{Cloud: wanted.Cloud, Subject: claims.Subject, Identity: wanted.Identity, Token: claims.ID, Session: name}
	if err != nil {
		done.Refused = err.Error()
		c.exchanges = append(c.exchanges, done)
		return "", time.Time{}, err
	}
	c.exchanges = append(c.exchanges, done)
	key, expires = "session-"+rand.Text(), time.Now().Add(c.options.Life)
	c.sessions[key] = session{cloud: wanted.Cloud, identity: wanted.Identity, expires: expires}
	return key, expires, nil
}

// allowed reports why a subject may not have what it wants.
func (c *Clouds) allowed(token claims, wanted Trust) error {
	at := slices.IndexFunc(c.trusts, func(t Trust) bool {
		return t.Cloud == wanted.Cloud && t.Identity == wanted.Identity && t.Subject == token.Subject
	})
	if at < 0 {
		return errDenied
	}
	trust := c.trusts[at]
	if !slices.Contains(token.Audience, trust.Audience) {
		return errAudience
	}
	if trust.Newest > 0 && time.Since(token.IssuedAt.Time()) > trust.Newest {
		return errExpired
	}
	return nil
}

// whose returns the identity of credentials that have not expired.
func (c *Clouds) whose(cloud, key string) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	found, ok := c.sessions[key]
	if !ok || found.cloud != cloud {
		return "", errInvalid
	}
	if time.Now().After(found.expires.Add(underWay)) {
		return "", errExpired
	}
	return found.identity, nil
}

// whoami answers with the identity of a bearer token.
func (c *Clouds) whoami(cloud string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		identity, err := c.whose(cloud, bearer(r))
		if err != nil {
			http.Error(w, err.Error(), http.StatusUnauthorized)
			return
		}
		_, _ = fmt.Fprintln(w, identity)
	})
}

// serveOIDC accepts tokens of service accounts as they are.
func (c *Clouds) serveOIDC(w http.ResponseWriter, r *http.Request) {
	claims, err := c.keys.verify(bearer(r))
	identity := claims.Subject
	if err == nil {
		_, _, err = c.exchange(bearer(r), Trust{Cloud: OIDC, Identity: identity}, "")
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusUnauthorized)
		return
	}
	_, _ = fmt.Fprintln(w, identity)
}

func bearer(r *http.Request) string {
	return strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
}

// mayImpersonate reports whether a caller of the federation may have the account of Google.
func (c *Clouds) mayImpersonate(caller, account string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !slices.ContainsFunc(c.trusts, func(t Trust) bool {
		return t.Cloud == Google && t.Identity == account && strings.HasSuffix(caller, ":"+t.Subject)
	}) {
		return errDenied
	}
	return nil
}

// impersonate returns the key of a new session of an account of Google.
func (c *Clouds) impersonate(account string) (key string, expires time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	key, expires = "session-"+rand.Text(), time.Now().Add(c.options.Life)
	c.sessions[key] = session{cloud: Google, identity: account, expires: expires}
	return key, expires
}
