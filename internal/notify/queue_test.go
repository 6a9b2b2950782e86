// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package notify

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	eventv1 "github.com/fluxcd/pkg/apis/event/v1beta1"
	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	. "github.com/onsi/gomega"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

// received is a fake notification-controller: an HTTP server that answers as a test says.
type received struct {
	*httptest.Server
	mu     sync.Mutex
	events []eventv1.Event
	posts  int
}

// newReceived answers the nth post, counting from 1, with the status that answer returns.
// Only accepted events count as received.
func newReceived(t *testing.T, answer func(nth int) int) *received {
	t.Helper()
	r := &received{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		var e eventv1.Event
		err := json.NewDecoder(request.Body).Decode(&e)
		r.mu.Lock()
		r.posts++
		nth := r.posts
		r.mu.Unlock()
		code := answer(nth)
		if err == nil && code == http.StatusAccepted {
			r.mu.Lock()
			r.events = append(r.events, e)
			r.mu.Unlock()
		}
		http.Error(w, http.StatusText(code), code)
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *received) messages() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var messages []string
	for _, e := range r.events {
		messages = append(messages, e.Message)
	}
	return messages
}

func (r *received) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.posts
}

// written records the Kubernetes Events.
type written struct {
	mu          sync.Mutex
	lines       []string
	annotations []map[string]string
}

func (w *written) AnnotatedEventf(_ runtime.Object, annotations map[string]string, kind, reason, format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lines = append(w.lines, fmt.Sprintf("%s %s %s", kind, reason, fmt.Sprintf(format, args...)))
	w.annotations = append(w.annotations, annotations)
}

func (w *written) all() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]string(nil), w.lines...)
}

func scheme(t *testing.T) *runtime.Scheme {
	t.Helper()
	s := runtime.NewScheme()
	if err := v1.AddToScheme(s); err != nil {
		t.Fatal(err)
	}
	return s
}

// silent returns a logger that discards everything. The recorder of pkg/runtime needs one
// with a sink.
func silent() logr.Logger { return funcr.New(func(string, string) {}, funcr.Options{}) }

// newQueue returns a Queue that sends to the address and retries without waiting.
func newQueue(t *testing.T, address string, size int) (*Queue, *written) {
	t.Helper()
	sender, err := newSender(scheme(t), silent(), address, "pulumi-controller")
	if err != nil {
		t.Fatal(err)
	}
	sender.recorder.Client.RetryWaitMin, sender.recorder.Client.RetryWaitMax = time.Microsecond, time.Millisecond
	sender.patience = 20 * time.Millisecond
	w := &written{}
	q, err := New(Options{
		Writer: w, Sender: sender, Size: size, Scheme: scheme(t), Registerer: prometheus.NewRegistry(), Log: logr.Discard(),
	})
	if err != nil {
		t.Fatal(err)
	}
	return q, w
}

func aStack(name string) *v1.Stack {
	return &v1.Stack{ObjectMeta: metav1.ObjectMeta{
		Namespace: "apps", Name: name, UID: "uid-1", ResourceVersion: "7",
		Annotations: map[string]string{eventv1.Group + "/change_request": "12", "other": "x"},
	}}
}

func tell(q *Queue, stack *v1.Stack, message string) {
	q.AnnotatedEventf(stack, map[string]string{"pulumi.com/revision": "main@sha1:1"}, corev1.EventTypeNormal, "ReconciliationSucceeded", "%s", message)
}

func accept(int) int { return http.StatusAccepted }

// closed closes the Queue, and waits without a limit for everything to be sent.
func closed(g *WithT, q *Queue) {
	g.Expect(q.Close(context.Background())).To(Succeed())
}

func TestAnEventIsSentAsFluxSendsIt(t *testing.T) {
	g := NewWithT(t)
	server := newReceived(t, accept)
	q, w := newQueue(t, server.URL, 10)
	stack := aStack("app")
	tell(q, stack, "100% done: %s")
	// The reconcile continues to change its object.
	stack.Name, stack.Annotations[eventv1.Group+"/change_request"] = "another", "13"
	closed(g, q)

	g.Expect(w.all()).To(Equal([]string{"Normal ReconciliationSucceeded 100% done: %s"}))
	g.Expect(server.events).To(HaveLen(1))
	e := server.events[0]
	g.Expect(e.InvolvedObject).To(Equal(corev1.ObjectReference{
		APIVersion: "pulumi.com/v1", Kind: "Stack", Namespace: "apps", Name: "app", UID: "uid-1", ResourceVersion: "7",
	}))
	g.Expect(e.Severity).To(Equal(eventv1.EventSeverityInfo))
	g.Expect(e.Reason).To(Equal("ReconciliationSucceeded"))
	g.Expect(e.Message).To(Equal("100% done: %s"))
	g.Expect(e.ReportingController).To(Equal("pulumi-controller"))
	g.Expect(e.Metadata).To(Equal(map[string]string{"pulumi.com/revision": "main@sha1:1", eventv1.Group + "/change_request": "12"}))
	g.Expect(testutil.ToFloat64(q.dropped)).To(BeZero())
}

func TestWhatIsWrittenAndWhatIsSent(t *testing.T) {
	g := NewWithT(t)
	server := newReceived(t, accept)
	q, w := newQueue(t, server.URL, 10)
	q.AnnotatedEventf(aStack("app"), nil, eventv1.EventTypeTrace, "R", "a trace")
	q.AnnotatedEventf(aStack("app"), map[string]string{"pulumi.com/commit_status": "update"}, corev1.EventTypeNormal, "R", "a commit status")
	q.AnnotatedEventf(aStack("app"), nil, corev1.EventTypeWarning, "R", "a failure")
	closed(g, q)
	g.Expect(w.all()).To(Equal([]string{"Trace R a trace", "Warning R a failure"}))
	g.Expect(server.messages()).To(Equal([]string{"a commit status", "a failure"}))
}

// TestACommentIsSentInPlaceOfTheMessage, and is no part of the Kubernetes Event.
func TestACommentIsSentInPlaceOfTheMessage(t *testing.T) {
	g := NewWithT(t)
	server := newReceived(t, accept)
	q, w := newQueue(t, server.URL, 10)
	annotations := map[string]string{"pulumi.com/revision": "main@sha1:1", "pulumi.com/comment": "**1 to delete**"}
	q.AnnotatedEventf(aStack("app"), annotations, corev1.EventTypeNormal, "R", "%s", "Previewed: 1 to delete")
	closed(g, q)
	g.Expect(w.all()).To(Equal([]string{"Normal R Previewed: 1 to delete"}))
	g.Expect(w.annotations).To(Equal([]map[string]string{{"pulumi.com/revision": "main@sha1:1"}}))
	g.Expect(server.messages()).To(Equal([]string{"**1 to delete**"}))
	g.Expect(server.events[0].Metadata).To(Equal(map[string]string{"pulumi.com/revision": "main@sha1:1", eventv1.Group + "/change_request": "12"}))
	g.Expect(annotations).To(HaveKey("pulumi.com/comment"), "those of the caller stay")
}

func TestAnEventOfAnObjectOfTheClusterIsOnlyWritten(t *testing.T) {
	g := NewWithT(t)
	server := newReceived(t, accept)
	var logged []string
	log := funcr.New(func(_, text string) { logged = append(logged, text) }, funcr.Options{})
	sender, err := newSender(scheme(t), log, server.URL, "pulumi-controller")
	g.Expect(err).NotTo(HaveOccurred())
	w := &written{}
	q, err := New(Options{Writer: w, Sender: sender, Size: 1, Scheme: scheme(t), Registerer: prometheus.NewRegistry(), Log: log})
	g.Expect(err).NotTo(HaveOccurred())
	q.AnnotatedEventf(&v1.PolicySet{ObjectMeta: metav1.ObjectMeta{Name: "base"}}, nil, corev1.EventTypeNormal, "Succeeded", "Packs are ready")
	closed(g, q)
	g.Expect(w.all()).To(Equal([]string{"Normal Succeeded Packs are ready"}))
	g.Expect(server.count()).To(BeZero())
	g.Expect(logged).To(BeEmpty(), "it is no fault")
}

func TestWithoutAnAddressNothingIsSent(t *testing.T) {
	g := NewWithT(t)
	w := &written{}
	q, err := New(Options{Writer: w, Size: 1, Scheme: scheme(t), Registerer: prometheus.NewRegistry(), Log: logr.Discard()})
	g.Expect(err).NotTo(HaveOccurred())
	for range 3 {
		tell(q, aStack("app"), "done")
	}
	closed(g, q)
	g.Expect(w.all()).To(HaveLen(3))
	g.Expect(testutil.ToFloat64(q.dropped)).To(BeZero(), "nobody was to get them")
}

func TestTheEventsOfAnObjectStayInOrder(t *testing.T) {
	g := NewWithT(t)
	// Every third post fails once, and is retried before the next event.
	server := newReceived(t, func(nth int) int {
		if nth%3 == 0 {
			return http.StatusInternalServerError
		}
		return http.StatusAccepted
	})
	q, _ := newQueue(t, server.URL, 1000)
	var reported sync.WaitGroup
	for _, name := range []string{"a", "b", "c", "d"} {
		reported.Go(func() {
			for i := range 20 {
				tell(q, aStack(name), fmt.Sprint(i))
			}
		})
	}
	reported.Wait()
	closed(g, q)
	next := map[string]int{}
	for _, e := range server.events {
		g.Expect(e.Message).To(Equal(fmt.Sprint(next[e.InvolvedObject.Name])), "of %s", e.InvolvedObject.Name)
		next[e.InvolvedObject.Name]++
	}
	g.Expect(next).To(Equal(map[string]int{"a": 20, "b": 20, "c": 20, "d": 20}))
}

func TestAnErrorResponseIsNotRetriedForEver(t *testing.T) {
	for name, test := range map[string]struct{ code, posts, lost int }{
		"429, which is a duplicate": {http.StatusTooManyRequests, 2, 0},
		"400":                       {http.StatusBadRequest, 2, 2},
		"500":                       {http.StatusInternalServerError, 10, 2},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			server := newReceived(t, func(int) int { return test.code })
			q, w := newQueue(t, server.URL, 10)
			tell(q, aStack("app"), "one")
			tell(q, aStack("app"), "two")
			closed(g, q)
			g.Expect(w.all()).To(HaveLen(2))
			g.Expect(server.count()).To(Equal(test.posts))
			g.Expect(testutil.ToFloat64(q.dropped)).To(BeEquivalentTo(test.lost))
		})
	}
}

func TestAMissingReceiverDelaysNobody(t *testing.T) {
	g := NewWithT(t)
	server := newReceived(t, accept)
	address := server.URL
	server.Close()
	q, w := newQueue(t, address, 10)
	for range 5 {
		tell(q, aStack("app"), "done")
	}
	g.Expect(w.all()).To(HaveLen(5), "the Kubernetes Events are written")
	closed(g, q)
	g.Expect(testutil.ToFloat64(q.dropped)).To(BeEquivalentTo(5), "what is given up is counted")
}

func TestAHangingReceiverDelaysNobody(t *testing.T) {
	g := NewWithT(t)
	hang := make(chan struct{})
	server := newReceived(t, func(int) int { <-hang; return http.StatusAccepted })
	defer close(hang) // before the server is closed, which waits for its handlers
	const size = 5
	q, w := newQueue(t, server.URL, size)
	tell(q, aStack("app"), "0")
	g.Eventually(server.count, time.Minute).Should(Equal(1))

	// This would never end if recording waited for the receiver.
	for i := range 20 {
		tell(q, aStack("app"), fmt.Sprint(i+1))
	}
	g.Expect(w.all()).To(HaveLen(21), "the Kubernetes Events are written")
	g.Expect(testutil.ToFloat64(q.dropped)).To(BeEquivalentTo(20-size), "what there is no room for is counted")

	soon, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	g.Expect(q.Close(soon)).To(And(MatchError(context.DeadlineExceeded),
		MatchError(ContainSubstring("one event was being sent to notification-controller and 5 were queued"))))
	tell(q, aStack("app"), "after the end")
	g.Expect(w.all()).To(HaveLen(22))
	g.Expect(testutil.ToFloat64(q.dropped)).To(BeEquivalentTo(21 - size))
}

func TestGivenUpEventsAreNotSentLater(t *testing.T) {
	g := NewWithT(t)
	hang := make(chan struct{})
	server := newReceived(t, func(int) int { <-hang; return http.StatusAccepted })
	q, _ := newQueue(t, server.URL, 5)
	for i := range 3 {
		tell(q, aStack("app"), fmt.Sprint(i))
	}
	g.Eventually(server.count, time.Minute).Should(Equal(1))
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	g.Expect(q.Close(gone)).NotTo(Succeed())
	close(hang)
	closed(g, q)
	g.Expect(server.messages()).To(Equal([]string{"0"}))
	g.Expect(testutil.ToFloat64(q.dropped)).To(BeEquivalentTo(2))
}

func TestTheLastEventsAreSent(t *testing.T) {
	g := NewWithT(t)
	server := newReceived(t, accept)
	q, _ := newQueue(t, server.URL, 100)
	for i := range 50 {
		tell(q, aStack("app"), fmt.Sprint(i))
	}
	closed(g, q)
	g.Expect(server.messages()).To(HaveLen(50))
	closed(g, q) // closing twice is fine
}
