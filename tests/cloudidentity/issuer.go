// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package cloudidentity

import (
	"bytes"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

// Issuer is an API server to its clients, and passes all requests on to the real one. But it says of tokens of service
// accounts that they expire soon, as no API server issues any that do, and remembers them.
type Issuer struct {
	life      time.Duration
	authority []byte
	server    *http.Server
	listener  net.Listener

	mu     sync.Mutex
	tokens []string
}

// StartIssuer starts an Issuer before the API server of the configuration. Clients keep their own credentials.
func StartIssuer(config *rest.Config, life time.Duration) (*Issuer, error) {
	target, err := url.Parse(config.Host)
	if err != nil {
		return nil, err
	}
	anonymous := rest.AnonymousClientConfig(config)
	transport, err := rest.TransportFor(anonymous)
	if err != nil {
		return nil, err
	}
	i := &Issuer{life: life}
	pair, authority, err := selfSigned(nil)
	if err != nil {
		return nil, err
	}
	if i.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		return nil, err
	}
	i.authority = authority
	i.server = &http.Server{ReadHeaderTimeout: time.Minute, Handler: &httputil.ReverseProxy{
		Transport: transport, FlushInterval: -1, ModifyResponse: i.shorten,
		ErrorLog: log.New(io.Discard, "", 0), // of clients that went away
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			if isTokenRequest(r.In) {
				r.Out.Header.Set("Accept", "application/json")
				r.Out.Header.Del("Accept-Encoding")
			}
		},
	}}
	go func() {
		_ = i.server.Serve(tls.NewListener(i.listener, &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}))
	}()
	return i, nil
}

// At returns the configuration with the API server here in place of the real one.
func (i *Issuer) At(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	config.Host, config.CAData = "https://"+i.listener.Addr().String(), i.authority
	return config
}

// Close ends all connections.
func (i *Issuer) Close() error { return i.server.Close() }

// Tokens are all that were issued.
func (i *Issuer) Tokens() []string {
	i.mu.Lock()
	defer i.mu.Unlock()
	return append([]string(nil), i.tokens...)
}

func isTokenRequest(r *http.Request) bool {
	return r.Method == http.MethodPost && strings.Contains(r.URL.Path, "/serviceaccounts/") && strings.HasSuffix(r.URL.Path, "/token")
}

// shorten changes what the API server says of a token, which stays as it is.
func (i *Issuer) shorten(response *http.Response) error {
	if !isTokenRequest(response.Request) || response.StatusCode != http.StatusCreated {
		return nil
	}
	text, err := io.ReadAll(response.Body)
	if err = errors.Join(err, response.Body.Close()); err != nil {
		return err
	}
	var request authenticationv1.TokenRequest
	if err := json.Unmarshal(text, &request); err != nil {
		return err
	}
	request.Status.ExpirationTimestamp = metav1.NewTime(time.Now().Add(i.life))
	i.mu.Lock()
	i.tokens = append(i.tokens, request.Status.Token)
	i.mu.Unlock()
	if text, err = json.Marshal(request); err != nil {
		return err
	}
	response.Body = io.NopCloser(bytes.NewReader(text))
	response.ContentLength = int64(len(text))
	response.Header.Set("Content-Length", strconv.Itoa(len(text)))
	return nil
}
