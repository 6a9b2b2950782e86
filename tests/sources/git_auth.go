// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package sources

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"time"
)

// GuardedGit stands before a GitServer and lets in who has the password. It is also the API of GitHub for one app, which
// hands that password out.
type GuardedGit struct {
	url    string
	server *http.Server
	served chan error

	mu   sync.Mutex
	user string
	pass string
}

// NewGuardedGit listens on a loopback port. An empty user lets in any that is not empty. Close ends it.
func NewGuardedGit(behind *GitServer, user, password string) (*GuardedGit, error) {
	target, err := url.Parse(behind.URL())
	if err != nil {
		return nil, fmt.Errorf("guarding a git server: %w", err)
	}
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("guarding a git server: %w", err)
	}
	g := &GuardedGit{url: "http://" + listener.Addr().String(), served: make(chan error, 1), user: user, pass: password}
	proxy := httputil.NewSingleHostReverseProxy(target)
	mux := http.NewServeMux()
	mux.HandleFunc("POST /api/v3/app/installations/{id}/access_tokens", g.handOut)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if !g.lets(r) {
			w.Header().Set("WWW-Authenticate", `Basic realm="git"`)
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		proxy.ServeHTTP(w, r)
	})
	g.server = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() { g.served <- g.server.Serve(listener) }()
	return g, nil
}

// URL returns the address that repositories lie under.
func (g *GuardedGit) URL() string { return g.url }

// URLOf returns the guarded address of a repository of the server.
func (g *GuardedGit) URLOf(repo *GitRepo) string {
	return g.url + repo.URL()[strings.LastIndex(repo.URL(), "/"):]
}

// SetPassword changes the password.
func (g *GuardedGit) SetPassword(password string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.pass = password
}

// TakeToken makes it accept the password as the user name with an empty password, as forges accept a token in the
// URL.
func (g *GuardedGit) TakeToken() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.user, g.pass = g.pass, ""
}

// Close ends the guard, but not the server behind it.
func (g *GuardedGit) Close() error { return closeServer(g.server, g.served) }

func (g *GuardedGit) lets(r *http.Request) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	user, password, ok := r.BasicAuth()
	return ok && user != "" && (g.user == "" || user == g.user) && password == g.pass
}

// handOut answers like GitHub to an app that presents its own signed token.
func (g *GuardedGit) handOut(w http.ResponseWriter, r *http.Request) {
	if !strings.HasPrefix(r.Header.Get("Authorization"), "Bearer ") {
		http.Error(w, "no app", http.StatusUnauthorized)
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusCreated)
	fmt.Fprintf(w, `{"token":%q,"expires_at":%q}`, g.pass, time.Now().Add(time.Hour).UTC().Format(time.RFC3339)) //nolint:errcheck // The client sees it.
}
