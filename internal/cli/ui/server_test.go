// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/fstest"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/cluster"
)

// standIn answers instead of the commands.
type standIn struct{ failure error }

func (standIn) Row(stack *v1.Stack) any {
	return map[string]string{"name": stack.Name, "message": stack.Spec.Stack}
}
func (s standIn) Detail(_ context.Context, stack *v1.Stack) (any, error) {
	return map[string]string{"stack": stack.Spec.Stack}, s.failure
}
func (standIn) Follow(ctx context.Context, _ *v1.Stack, changed func()) {
	changed()
	<-ctx.Done()
}
func (standIn) Progress(stack *v1.Stack) any {
	if stack.Status.Run == nil {
		return nil
	}
	return map[string]string{"id": stack.Status.Run.ID}
}
func (s standIn) Part(_ context.Context, _ *v1.Stack, part, run string) (any, error) {
	if part != "plan" && part != "history" {
		return nil, ErrNoPart
	}
	return map[string]string{"run": run}, s.failure
}
func (s standIn) Act(_ context.Context, stack *v1.Stack, action string, request Request) (string, error) {
	return action + " " + stack.Name + " " + request.Reason, s.failure
}
func (standIn) Left(_ context.Context, stack client.ObjectKey, run string) (any, error) {
	switch {
	case stack.Name == "forbidden":
		return nil, errors.New("you may not read ConfigMaps")
	case stack.Name != "retained":
		return nil, nil
	case run == "":
		return []string{"a run"}, nil
	}
	return map[string]string{"run": run}, nil
}
func (standIn) Graph(stacks []*v1.Stack, focus, _ string) any {
	return map[string]any{"nodes": len(stacks), "focus": focus}
}

// site is a server that runs, as a browser sees it.
type site struct {
	t      *testing.T
	api    client.WithWatch
	server *Server
	cookie *http.Cookie
}

func newSite(t *testing.T, commands Commands, funcs interceptor.Funcs, stacks ...client.Object) *site {
	t.Helper()
	return newSiteOf(t, []string{""}, commands, funcs, stacks...)
}

// newSiteOf is a site of the Stacks in the namespaces.
func newSiteOf(t *testing.T, namespaces []string, commands Commands, funcs interceptor.Funcs, stacks ...client.Object) *site {
	t.Helper()
	g := NewWithT(t)
	scheme, err := cluster.Scheme()
	g.Expect(err).NotTo(HaveOccurred())
	s := &site{t: t, api: fake.NewClientBuilder().WithScheme(scheme).WithObjects(stacks...).WithInterceptorFuncs(funcs).Build()}
	files := fstest.MapFS{"index.html": {Data: []byte("the page")}, "app.js": {Data: []byte("the code")}}
	s.server, err = Listen(t.Context(), Options{API: s.api, Commands: commands, Files: files})
	g.Expect(err).NotTo(HaveOccurred())
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.server.Run(ctx, namespaces...) }()
	t.Cleanup(func() {
		stop()
		NewWithT(t).Expect(<-ended).To(Succeed())
	})
	return s
}

func stackOf(name string) *v1.Stack {
	return &v1.Stack{ObjectMeta: metav1.ObjectMeta{Namespace: "apps", Name: name}, Spec: v1.StackSpec{Stack: "dev"}}
}

func (s *site) origin() string { return fmt.Sprintf("http://127.0.0.1:%d", s.server.port()) }

// do sends a request that change has changed, with the cookie if there is one.
func (s *site) do(method, path, body string, change func(*http.Request)) *http.Response {
	s.t.Helper()
	g := NewWithT(s.t)
	request, err := http.NewRequestWithContext(s.t.Context(), method, s.origin()+path, strings.NewReader(body))
	g.Expect(err).NotTo(HaveOccurred())
	if s.cookie != nil {
		request.AddCookie(s.cookie)
	}
	if method == http.MethodPost {
		request.Header.Set("Origin", s.origin())
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set(postHeader, "1")
	}
	if change != nil {
		change(request)
	}
	response, err := http.DefaultTransport.RoundTrip(request)
	g.Expect(err).NotTo(HaveOccurred())
	s.t.Cleanup(func() { _ = response.Body.Close() })
	return response
}

func (s *site) enter() *site {
	s.t.Helper()
	g := NewWithT(s.t)
	response := s.do(http.MethodGet, strings.TrimPrefix(s.server.URL(), s.origin()), "", nil)
	g.Expect(response.StatusCode).To(Equal(http.StatusOK))
	g.Expect(response.Cookies()).To(HaveLen(1))
	s.cookie = response.Cookies()[0]
	return s
}

func textOf(t *testing.T, response *http.Response) string {
	t.Helper()
	text, err := io.ReadAll(response.Body)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return string(text)
}

func TestRequestsThatAreNotOfThePageAreRefused(t *testing.T) {
	s := newSite(t, standIn{}, interceptor.Funcs{}, stackOf("network"))
	token := strings.TrimPrefix(s.server.URL(), s.origin())
	without := s.do(http.MethodGet, "/api/graph", "", nil)
	NewWithT(t).Expect(without.StatusCode).To(Equal(http.StatusUnauthorized))
	NewWithT(t).Expect(s.do(http.MethodGet, "/app.js", "", nil).StatusCode).To(Equal(http.StatusUnauthorized))
	NewWithT(t).Expect(s.do(http.MethodGet, "/?token=0", "", nil).StatusCode).To(Equal(http.StatusUnauthorized))
	NewWithT(t).Expect(s.do(http.MethodGet, token, "", func(r *http.Request) { r.Host = "attacker.example" }).StatusCode).To(Equal(http.StatusMisdirectedRequest))
	s.enter()
	post := "/api/stacks/apps/network/suspend"
	for name, tt := range map[string]struct {
		method, path string
		change       func(*http.Request)
		code         int
	}{
		"the page":                       {"GET", "/", nil, http.StatusOK},
		"under the name of this machine": {"GET", "/", func(r *http.Request) { r.Host = fmt.Sprintf("localhost:%d", s.server.port()) }, http.StatusOK},
		"a name that leads here":         {"GET", "/api/graph", func(r *http.Request) { r.Host = fmt.Sprintf("attacker.example:%d", s.server.port()) }, http.StatusMisdirectedRequest},
		"no port":                        {"GET", "/api/graph", func(r *http.Request) { r.Host = "127.0.0.1" }, http.StatusMisdirectedRequest},
		"another origin":                 {"GET", "/api/graph", func(r *http.Request) { r.Header.Set("Origin", "http://attacker.example") }, http.StatusForbidden},
		"no origin at all":               {"GET", "/api/graph", func(r *http.Request) { r.Header.Set("Origin", "null") }, http.StatusForbidden},
		"another site":                   {"GET", "/api/graph", func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }, http.StatusForbidden},
		"another port":                   {"GET", "/api/graph", func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "same-site") }, http.StatusForbidden},
		"another cookie":                 {"GET", "/api/graph", func(r *http.Request) { r.Header.Set("Cookie", s.cookie.Name+"=0") }, http.StatusUnauthorized},
		"an action":                      {"POST", post, nil, http.StatusOK},
		"an action without the header":   {"POST", post, func(r *http.Request) { r.Header.Del(postHeader) }, http.StatusForbidden},
		"an action without an origin":    {"POST", post, func(r *http.Request) { r.Header.Del("Origin") }, http.StatusForbidden},
		"an action from another port":    {"POST", post, func(r *http.Request) { r.Header.Set("Origin", "http://127.0.0.1:1") }, http.StatusForbidden},
		"an action from a form":          {"POST", post, func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") }, http.StatusUnsupportedMediaType},
		"an action without the cookie":   {"POST", post, func(r *http.Request) { r.Header.Del("Cookie") }, http.StatusUnauthorized},
		"another method":                 {"PUT", post, nil, http.StatusMethodNotAllowed},
		"an action by GET":               {"GET", post, nil, http.StatusNotFound},
		"no such file":                   {"GET", "/absent.js", nil, http.StatusNotFound},
		"no such answer":                 {"GET", "/api/secrets", nil, http.StatusNotFound},
		"no such Stack":                  {"GET", "/api/stacks/apps/absent", nil, http.StatusNotFound},
		"no such name":                   {"GET", "/api/stacks/apps/..%2F..%2Fsecrets", nil, http.StatusBadRequest},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			response := s.do(tt.method, tt.path, "{}", tt.change)
			g.Expect(response.StatusCode).To(Equal(tt.code))
			g.Expect(response.Header.Get("Content-Security-Policy")).To(Equal(policy))
			g.Expect(response.Header.Get("Cache-Control")).To(Equal("no-store"))
			g.Expect(response.Header.Get("X-Content-Type-Options")).To(Equal("nosniff"))
			g.Expect(response.Header.Get("Referrer-Policy")).To(Equal("no-referrer"))
			g.Expect(response.Header).NotTo(HaveKey("Access-Control-Allow-Origin"))
		})
	}
}

func TestTheAddressIsValidOnce(t *testing.T) {
	g := NewWithT(t)
	s := newSite(t, standIn{}, interceptor.Funcs{}).enter()
	g.Expect(s.cookie.HttpOnly).To(BeTrue())
	g.Expect(s.cookie.SameSite).To(Equal(http.SameSiteStrictMode))
	g.Expect(s.cookie.Value).To(HaveLen(64))
	g.Expect(s.server.URL()).NotTo(ContainSubstring(s.cookie.Value))
	again := strings.TrimPrefix(s.server.URL(), s.origin())
	g.Expect(s.do(http.MethodGet, again, "", nil).StatusCode).To(Equal(http.StatusOK), "the same browser may load it again")
	response := s.do(http.MethodGet, again, "", func(r *http.Request) { r.Header.Del("Cookie") })
	g.Expect(response.StatusCode).To(Equal(http.StatusUnauthorized))
	g.Expect(response.Cookies()).To(BeEmpty())
	g.Expect(textOf(t, response)).To(ContainSubstring("this address was used already"))
}

func TestTheServerIsOnLoopback(t *testing.T) {
	s := newSite(t, standIn{}, interceptor.Funcs{})
	NewWithT(t).Expect(s.server.listener.Addr().String()).To(HavePrefix("127.0.0.1:"))
	_, err := Listen(t.Context(), Options{Port: s.server.port()})
	NewWithT(t).Expect(err).To(MatchError(ContainSubstring("address already in use")))
}

func TestBodiesAreBoundedAndKnown(t *testing.T) {
	s := newSite(t, standIn{}, interceptor.Funcs{}, stackOf("network")).enter()
	for body, code := range map[string]int{
		`{"reason":"not on a Friday"}`:                      http.StatusOK,
		`{"reason":"` + strings.Repeat("a", maxBody) + `"}`: http.StatusRequestEntityTooLarge,
		`{"other":true}`:                                    http.StatusBadRequest, `{} {}`: http.StatusBadRequest, ``: http.StatusBadRequest,
	} {
		NewWithT(t).Expect(s.do(http.MethodPost, "/api/stacks/apps/network/reject", body, nil).StatusCode).To(Equal(code), body[:min(len(body), 30)])
	}
}

func TestAnErrorIsBounded(t *testing.T) {
	g := NewWithT(t)
	s := newSite(t, standIn{errors.New(strings.Repeat("a", 1<<20))}, interceptor.Funcs{}, stackOf("network")).enter()
	response := s.do(http.MethodPost, "/api/stacks/apps/network/suspend", "{}", nil)
	g.Expect(response.StatusCode).To(Equal(http.StatusUnprocessableEntity))
	g.Expect(len(textOf(t, response))).To(BeNumerically("<", maxMessage+100))
}

// TestConnectionsAreBounded opens as many as there may be, which say nothing, and shows that one more waits until another
// is closed.
func TestConnectionsAreBounded(t *testing.T) {
	g := NewWithT(t)
	s := newSite(t, standIn{}, interceptor.Funcs{})
	var open []net.Conn
	for range maxConnections {
		one, err := net.Dial("tcp", s.server.listener.Addr().String())
		g.Expect(err).NotTo(HaveOccurred())
		defer func() { _ = one.Close() }()
		open = append(open, one)
	}
	answered := make(chan error, 1)
	go func() {
		late, err := net.Dial("tcp", s.server.listener.Addr().String())
		if err == nil {
			defer func() { _ = late.Close() }()
			_, err = late.Write([]byte("GET / HTTP/1.0\r\n\r\n"))
		}
		if err == nil {
			_, err = bufio.NewReader(late).ReadString('\n')
		}
		answered <- err
	}()
	g.Consistently(answered, "200ms").ShouldNot(Receive())
	g.Expect(open[0].Close()).To(Succeed())
	g.Eventually(answered, "5s").Should(Receive(BeNil()))
}
