// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

// reader reads the events of a stream.
type reader struct {
	t    *testing.T
	from *bufio.Reader
}

func (s *site) listen(path string) *reader {
	response := s.do(http.MethodGet, path, "", nil)
	NewWithT(s.t).Expect(response.Header.Get("Content-Type")).To(Equal("text/event-stream"))
	NewWithT(s.t).Expect(response.Header.Get("Content-Security-Policy")).To(Equal(policy))
	return &reader{s.t, bufio.NewReader(response.Body)}
}

// next returns the next event of the name.
func (r *reader) next(event string, into any) {
	r.t.Helper()
	g := NewWithT(r.t)
	for {
		line, err := r.from.ReadBytes('\n')
		g.Expect(err).NotTo(HaveOccurred())
		if string(line) != "event: "+event+"\n" {
			continue
		}
		data, err := r.from.ReadBytes('\n')
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(json.Unmarshal(bytes.TrimPrefix(data, []byte("data: ")), into)).To(Succeed())
		return
	}
}

// either returns the name of the next event, whatever it is.
func (r *reader) either(into any) string {
	r.t.Helper()
	g := NewWithT(r.t)
	for {
		line, err := r.from.ReadString('\n')
		g.Expect(err).NotTo(HaveOccurred())
		if event, ok := strings.CutPrefix(strings.TrimSpace(line), "event: "); ok {
			data, err := r.from.ReadBytes('\n')
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(json.Unmarshal(bytes.TrimPrefix(data, []byte("data: ")), into)).To(Succeed())
			return event
		}
	}
}

type rowsSeen struct {
	Reset   bool
	Upserts []struct{ Name, Message string }
	Removed []string
}

func TestAStreamHasAllStacksAndThenWhatChanges(t *testing.T) {
	g := NewWithT(t)
	s := newSite(t, standIn{}, interceptor.Funcs{}, stackOf("cluster"), stackOf("network")).enter()
	list, live := s.listen("/api/stacks"), s.listen("/api/stacks/apps/network/live")
	var link status
	var seen rowsSeen
	list.next("stacks", &seen)
	g.Expect(seen.Reset).To(BeTrue())
	g.Expect(seen.Upserts).To(HaveLen(2))
	var detail map[string]string
	live.next("detail", &detail)
	g.Expect(detail).To(HaveKeyWithValue("stack", "dev"))

	network := &v1.Stack{}
	g.Expect(s.api.Get(t.Context(), client.ObjectKey{Namespace: "apps", Name: "network"}, network)).To(Succeed())
	network.Spec.Stack = "prod"
	changed := time.Now()
	g.Expect(s.api.Update(t.Context(), network)).To(Succeed())
	seen = rowsSeen{}
	list.next("stacks", &seen)
	live.next("detail", &detail)
	g.Expect(time.Since(changed)).To(BeNumerically("<", time.Second))
	g.Expect(seen.Reset).To(BeFalse())
	g.Expect(seen.Upserts).To(HaveLen(1))
	g.Expect(seen.Upserts[0].Message).To(Equal("prod"))
	g.Expect(detail).To(HaveKeyWithValue("stack", "prod"))

	g.Expect(s.api.Delete(t.Context(), network)).To(Succeed())
	seen = rowsSeen{}
	list.next("stacks", &seen)
	g.Expect(seen.Removed).To(Equal([]string{"apps/network"}))
	var gone goneEvent
	live.next("gone", &gone)
	g.Expect(gone.Message).To(Equal("Stack apps/network does not exist"))
	s.listen("/api/stacks").next("status", &link)
	g.Expect(link.Connected).To(BeTrue())
}

// outage is an error with which the API server answers, until it ends.
type outage struct {
	mu  sync.Mutex
	err error
}

func (o *outage) now() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}

func (o *outage) begin(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.err = err
}

func (o *outage) end() { o.begin(nil) }

// failing is a standIn whose details fail while there is an outage.
type failing struct {
	standIn
	*outage
}

func (f failing) Detail(ctx context.Context, stack *v1.Stack) (any, error) {
	if err := f.now(); err != nil {
		return nil, err
	}
	return f.standIn.Detail(ctx, stack)
}

// TestAStackThatCannotBeReadNowIsNotGone: the page keeps what it has, and is sent that again when it can be read.
func TestAStackThatCannotBeReadNowIsNotGone(t *testing.T) {
	g := NewWithT(t)
	away := &outage{}
	s := newSite(t, failing{outage: away}, interceptor.Funcs{Get: func(ctx context.Context, api client.WithWatch, key client.ObjectKey, into client.Object, options ...client.GetOption) error {
		if key.Namespace == "other" {
			return errors.New("connection refused")
		}
		return api.Get(ctx, key, into, options...)
	}}, stackOf("network")).enter()
	live, detail := s.listen("/api/stacks/apps/network/live"), map[string]string{}
	g.Expect(live.either(&detail)).To(Equal("detail"))
	touch := func(times string) {
		network := &v1.Stack{}
		g.Expect(s.api.Get(t.Context(), client.ObjectKey{Namespace: "apps", Name: "network"}, network)).To(Succeed())
		network.Annotations = map[string]string{"times": times}
		g.Expect(s.api.Update(t.Context(), network)).To(Succeed())
	}
	away.begin(context.DeadlineExceeded)
	touch("one")
	var unread unreadEvent
	g.Expect(live.either(&unread)).To(Equal("unread"))
	g.Expect(unread.Message).To(Equal("Stack apps/network cannot be read, and may have changed since: context deadline exceeded"))
	away.end()
	touch("two")
	g.Expect(live.either(&detail)).To(Equal("detail"), "also if it is the same as before")
	away.begin(apierrors.NewForbidden(schema.GroupResource{Resource: "stacks"}, "network", errors.New("ask alice")))
	touch("three")
	var gone goneEvent
	g.Expect(live.either(&gone)).To(Equal("gone"))
	g.Expect(gone.Message).To(HaveSuffix("ask alice"))

	g.Expect(s.listen("/api/stacks/other/vault/live").either(&unread)).To(Equal("unread"))
	g.Expect(unread.Message).To(HaveSuffix("connection refused"))
}

func TestAStreamSaysWhyTheStacksCannotBeReadAndContinues(t *testing.T) {
	for name, tt := range map[string]struct {
		err  error
		says string
	}{
		"the API server is away": {errors.New("connection refused"), "connection refused"},
		"the token is too old":   {apierrors.NewUnauthorized("the token has expired"), "the token has expired"},
		"the person may not":     {apierrors.NewForbidden(schema.GroupResource{Group: v1.GroupVersion.Group, Resource: "stacks"}, "", errors.New("ask alice")), "ask alice"},
		"there is too much":      {apierrors.NewTooManyRequests("later", 1), "later"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			failing := &outage{err: tt.err}
			s := newSite(t, standIn{}, interceptor.Funcs{List: func(ctx context.Context, api client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
				if err := failing.now(); err != nil {
					return err
				}
				return api.List(ctx, list, options...)
			}}, stackOf("network")).enter()
			list := s.listen("/api/stacks")
			var link status
			for link.Message == "" {
				list.next("status", &link)
			}
			g.Expect(link.Connected).To(BeFalse())
			g.Expect(link.Message).To(ContainSubstring(tt.says))
			failing.end()
			list.next("status", &link)
			g.Expect(link).To(Equal(status{Connected: true}))
			var seen rowsSeen
			list.next("stacks", &seen)
			g.Expect(seen.Upserts).To(HaveLen(1))
		})
	}
}

// TestAWatchThatHasExpiredIsNotTheEnd: etcd drops old versions, and what has changed meanwhile is in no event.
func TestAWatchThatHasExpiredIsNotTheEnd(t *testing.T) {
	g := NewWithT(t)
	first := watch.NewFake()
	var watches atomic.Int32
	s := newSite(t, standIn{}, interceptor.Funcs{Watch: func(ctx context.Context, api client.WithWatch, list client.ObjectList, options ...client.ListOption) (watch.Interface, error) {
		if watches.Add(1) == 1 {
			return first, nil
		}
		return api.Watch(ctx, list, options...)
	}}, stackOf("network"), stackOf("cluster")).enter()
	list := s.listen("/api/stacks")
	var seen rowsSeen
	list.next("stacks", &seen)
	g.Expect(seen.Upserts).To(HaveLen(2))
	g.Expect(s.api.Delete(t.Context(), stackOf("cluster"))).To(Succeed())
	network := &v1.Stack{}
	g.Expect(s.api.Get(t.Context(), client.ObjectKey{Namespace: "apps", Name: "network"}, network)).To(Succeed())
	network.Spec.Stack = "prod"
	g.Expect(s.api.Update(t.Context(), network)).To(Succeed())
	expired := apierrors.NewResourceExpired("too old resource version")
	first.Error(&expired.ErrStatus)
	seen = rowsSeen{}
	list.next("stacks", &seen)
	g.Expect(seen.Removed).To(Equal([]string{"apps/cluster"}))
	g.Expect(seen.Upserts).To(HaveLen(1))
	g.Expect(seen.Upserts[0].Message).To(Equal("prod"))
}

func stackIn(namespace, name string) *v1.Stack {
	stack := stackOf(name)
	stack.Namespace = namespace
	return stack
}

func TestOnlyTheStacksOfTheNamespacesAreListedAndOthersAreStillShown(t *testing.T) {
	g := NewWithT(t)
	s := newSiteOf(t, []string{"apps", "data"}, standIn{}, interceptor.Funcs{Get: func(ctx context.Context, api client.WithWatch, key client.ObjectKey, into client.Object, options ...client.GetOption) error {
		if key.Namespace == "secret" {
			return apierrors.NewForbidden(schema.GroupResource{Resource: "stacks"}, key.Name, errors.New("ask alice"))
		}
		return api.Get(ctx, key, into, options...)
	}}, stackOf("network"), stackIn("data", "queue"), stackIn("other", "cluster")).enter()
	list, rows := s.listen("/api/stacks"), map[string]bool{}
	for len(rows) < 2 {
		var seen rowsSeen
		list.next("stacks", &seen)
		for _, row := range seen.Upserts {
			rows[row.Name] = true
		}
	}
	g.Expect(rows).To(And(HaveKey("network"), HaveKey("queue"), Not(HaveKey("cluster"))))
	var detail map[string]string
	s.listen("/api/stacks/other/cluster/live").next("detail", &detail)
	g.Expect(detail).To(HaveKeyWithValue("stack", "dev"), "a dependency, for example")
	var gone goneEvent
	s.listen("/api/stacks/secret/vault/live").next("gone", &gone)
	g.Expect(gone.Message).To(And(HavePrefix("Stack secret/vault cannot be read: "), HaveSuffix("ask alice")))
	s.listen("/api/stacks/data/network/live").next("gone", &gone)
	g.Expect(gone.Message).To(Equal("Stack data/network does not exist"))
}

func TestAListOfOneNamespaceLeavesTheOthersAlone(t *testing.T) {
	g := NewWithT(t)
	h := newHub()
	g.Expect(stacksOf{h, "apps"}.Replace([]any{stackOf("a")}, "1")).To(Succeed())
	g.Expect(stacksOf{h, "data"}.Replace([]any{stackIn("data", "b")}, "1")).To(Succeed())
	g.Expect(stacksOf{h, "apps"}.Replace(nil, "2")).To(Succeed())
	stacks, _ := h.all()
	g.Expect(stacks).To(HaveExactElements(HaveField("Name", "b")))
	h.setLink("apps", errors.New("first"))
	h.setLink("data", errors.New("second"))
	h.setLink("apps", nil)
	_, link := h.all()
	g.Expect(link).To(Equal(status{Message: "second"}), "one that is away is not hidden by another")
}

func TestWhatIsLeftOfAStackIsShown(t *testing.T) {
	g := NewWithT(t)
	s := newSite(t, standIn{}, interceptor.Funcs{}, stackOf("network")).enter()
	var gone struct {
		Message string
		History []string
	}
	s.listen("/api/stacks/apps/retained/live").next("gone", &gone)
	g.Expect(gone.Message).To(Equal("Stack apps/retained does not exist any more: these are the runs that were retained"))
	g.Expect(gone.History).To(Equal([]string{"a run"}))
	s.listen("/api/stacks/apps/forbidden/live").next("gone", &gone)
	g.Expect(gone.Message).To(Equal("Stack apps/forbidden does not exist, and its history cannot be read: you may not read ConfigMaps"))
	for path, code := range map[string]int{
		"/api/stacks/apps/retained/history/d": http.StatusOK, "/api/stacks/apps/network/history/d": http.StatusOK,
		"/api/stacks/apps/absent/history/d": http.StatusNotFound, "/api/stacks/apps/retained/plan": http.StatusNotFound,
	} {
		g.Expect(s.do(http.MethodGet, path, "", nil).StatusCode).To(Equal(code), path)
	}
}

func TestStreamsAreBounded(t *testing.T) {
	g := NewWithT(t)
	s := newSite(t, standIn{}, interceptor.Funcs{}).enter()
	for range maxStreams {
		s.listen("/api/stacks")
	}
	response := s.do(http.MethodGet, "/api/stacks", "", nil)
	g.Expect(response.StatusCode).To(Equal(http.StatusServiceUnavailable))
}

// wide is a standIn whose rows are as long as no row may be.
type wide struct{ standIn }

func (wide) Row(stack *v1.Stack) any {
	return map[string]string{"name": stack.Name, "message": strings.Repeat("a", maxAnswer/rowsPerEvent-100)}
}

// TestMoreStacksThanAnEventHoldsAreSent in several, of which only the first replaces what the page has.
func TestMoreStacksThanAnEventHoldsAreSent(t *testing.T) {
	g := NewWithT(t)
	var found news
	for i := range 2*rowsPerEvent + 1 {
		found.upserts = append(found.upserts, stackOf(fmt.Sprintf("network-%d", i)))
		found.removed = append(found.removed, client.ObjectKey{Namespace: "apps", Name: fmt.Sprintf("gone-%d", i)})
	}
	found.reset = true
	s, names, removed, events := &Server{commands: wide{}}, map[string]bool{}, map[string]bool{}, 0
	for event := range s.rowsEvents(found) {
		g.Expect(event.Reset).To(Equal(events == 0))
		events++
		g.Expect(len(event.Upserts) + len(event.Removed)).To(BeNumerically("<=", rowsPerEvent))
		_, err := marshal(event)
		g.Expect(err).NotTo(HaveOccurred())
		for _, row := range event.Upserts {
			names[row.(map[string]string)["name"]] = true
		}
		for _, key := range event.Removed {
			removed[key] = true
		}
	}
	g.Expect([]int{events, len(names), len(removed)}).To(Equal([]int{5, len(found.upserts), len(found.removed)}))
	none := 0
	for event := range s.rowsEvents(news{reset: true}) {
		none++
		g.Expect(event.Reset).To(BeTrue())
	}
	g.Expect(none).To(Equal(1), "that there is no Stack is an event, too")
}

func TestASlowSubscriberHasTheNewestOfEachStackOnce(t *testing.T) {
	g := NewWithT(t)
	h := newHub()
	g.Expect(stacksOf{h, ""}.Replace([]any{stackOf("a"), stackOf("b")}, "1")).To(Succeed())
	slow, one := h.subscribe(client.ObjectKey{}), h.subscribe(client.ObjectKey{Namespace: "apps", Name: "a"})
	g.Expect(h.take(slow).upserts).To(HaveLen(2))
	for n := range 1000 {
		stack := stackOf("b")
		stack.Spec.Stack = fmt.Sprint(n)
		g.Expect(stacksOf{h, ""}.Update(stack)).To(Succeed())
	}
	g.Expect(slow.changed).To(HaveLen(1))
	g.Expect(one.changed).To(BeEmpty())
	found := h.take(slow)
	g.Expect(found.reset).To(BeFalse())
	g.Expect(found.upserts).To(HaveLen(1))
	g.Expect(found.upserts[0].Spec.Stack).To(Equal("999"))
	g.Expect(stacksOf{h, ""}.Replace([]any{stackOf("c")}, "2")).To(Succeed())
	found = h.take(slow)
	g.Expect(found.upserts).To(HaveLen(1))
	g.Expect(found.removed).To(HaveLen(2))
	h.unsubscribe(slow)
	g.Expect(h.subscribers).To(HaveLen(1))
}
