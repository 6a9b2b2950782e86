// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"
)

// policy lets the page load and ask nothing but what this server has.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"form-action 'none'; frame-ancestors 'none'; base-uri 'none'"

// postHeader is a header that no form of another page can send.
const postHeader = "X-Flux-Pulumi"

// answerWithin bounds how long the client may take to read an answer that is no stream, and to send its request.
const answerWithin = time.Minute

// welcome makes the browser open the page by itself: the first request may come from a link elsewhere, and with a
// redirection the browser would not send a cookie with SameSite=Strict.
const welcome = `<!doctype html><html lang="en"><meta charset="utf-8"><meta http-equiv="refresh" content="0; url=/">` +
	`<title>flux pulumi</title><p><a href="/">Open the page</a></p></html>
`

// secret is 256 random bits as text, of which only the digest is kept.
type secret [sha256.Size]byte

// newSecret returns a secret and its text.
func newSecret() (secret, string) {
	var random [32]byte
	_, _ = rand.Read(random[:]) // never fails
	text := hex.EncodeToString(random[:])
	return sha256.Sum256([]byte(text)), text
}

// is compares in constant time.
func (s secret) is(text string) bool {
	digest := sha256.Sum256([]byte(text))
	return subtle.ConstantTimeCompare(s[:], digest[:]) == 1
}

// guard refuses all requests but those of the browser that was given the token. A page elsewhere can neither use the
// cookie (SameSite, Origin), nor reach the server under another name (Host), nor show the page (frame-ancestors).
type guard struct {
	hosts  []string
	cookie string // its name: cookies know no ports
	next   http.Handler

	mu      sync.Mutex
	token   secret
	used    bool
	session secret
	given   string // the value of the cookie, until it is given away
}

// newGuard returns a guard for a server at the port, and the token.
func newGuard(port int, next http.Handler) (*guard, string) {
	g := &guard{hosts: []string{fmt.Sprintf("127.0.0.1:%d", port), fmt.Sprintf("localhost:%d", port)}, cookie: fmt.Sprintf("flux-pulumi-%d", port), next: next}
	token := ""
	g.token, token = newSecret()
	g.session, g.given = newSecret()
	return g, token
}

// ServeHTTP implements http.Handler.
func (g *guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	harden(w)
	controller := http.NewResponseController(w)
	// A connection that cannot be limited is not one of a server that listens.
	_ = controller.SetReadDeadline(time.Now().Add(answerWithin))
	_ = controller.SetWriteDeadline(time.Now().Add(answerWithin))
	switch {
	case !slices.Contains(g.hosts, r.Host):
		refuse(w, http.StatusMisdirectedRequest, "this server is only for the address that the command has printed")
	case !slices.Contains([]string{"", "none", "same-origin"}, r.Header.Get("Sec-Fetch-Site")) && r.URL.Path != "/": // another port is the same site
		refuse(w, http.StatusForbidden, "another site must not ask this server")
	case !g.isOwnOrigin(r):
		refuse(w, http.StatusForbidden, "the request is not from the page")
	case r.Method != http.MethodGet && r.Method != http.MethodPost:
		refuse(w, http.StatusMethodNotAllowed, "only GET and POST are allowed")
	case r.Method == http.MethodGet && r.URL.Path == "/" && r.URL.Query().Has("token"):
		g.enter(w, r)
	case !g.isKnown(r):
		refuse(w, http.StatusUnauthorized, "open the address that flux pulumi ui has printed, or run it again: the address is valid once")
	default:
		g.next.ServeHTTP(w, r)
	}
}

// harden sets the headers of all answers.
func harden(w http.ResponseWriter) {
	for name, value := range map[string]string{
		"Content-Security-Policy": policy, "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
		"Cross-Origin-Resource-Policy": "same-origin", "Cross-Origin-Opener-Policy": "same-origin",
	} {
		w.Header().Set(name, value)
	}
}

// isOwnOrigin reports whether a request comes from the page, as far as the browser says. One that changes something must
// say so.
func (g *guard) isOwnOrigin(r *http.Request) bool {
	origins := r.Header.Values("Origin")
	if r.Method == http.MethodPost && (len(origins) != 1 || r.Header.Get(postHeader) != "1") {
		return false
	}
	return !slices.ContainsFunc(origins, func(origin string) bool { return origin != "http://"+r.Host })
}

// enter exchanges the token for the cookie, once.
func (g *guard) enter(w http.ResponseWriter, r *http.Request) {
	value, ok := g.redeem(r.URL.Query().Get("token"))
	switch {
	case ok:
		http.SetCookie(w, &http.Cookie{Name: g.cookie, Value: value, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
	case !g.isKnown(r):
		refuse(w, http.StatusUnauthorized, "this address was used already, or is that of an earlier command: run flux pulumi ui again")
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write([]byte(welcome)) // the browser may be gone
}

// redeem returns the value of the cookie for the token.
func (g *guard) redeem(token string) (string, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.used || !g.token.is(token) {
		return "", false
	}
	value := g.given
	g.used, g.given = true, ""
	return value, true
}

// isKnown reports whether the request has the cookie.
func (g *guard) isKnown(r *http.Request) bool {
	return slices.ContainsFunc(r.CookiesNamed(g.cookie), func(cookie *http.Cookie) bool { return g.session.is(cookie.Value) })
}
