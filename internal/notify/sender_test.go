// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package notify

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	. "github.com/onsi/gomega"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

// clock returns a clock that advances with each reading.
func clock(step time.Duration) func() time.Time {
	at := time.Unix(0, 0)
	return func() time.Time {
		at = at.Add(step)
		return at
	}
}

func TestAnEventWaitsForANotificationControllerThatIsAway(t *testing.T) {
	g := NewWithT(t)
	const away = 150 // attempts: more than seven minutes at 3 s each
	var posts atomic.Int32
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		nth := int(posts.Add(1))
		switch {
		case nth <= away/2:
			panic(http.ErrAbortHandler) // cut the connection without an answer
		case nth <= away:
			w.WriteHeader(http.StatusServiceUnavailable)
		default:
			w.WriteHeader(http.StatusAccepted)
		}
	}))
	server.Start()
	defer server.Close()
	sender, err := newSender(scheme(t), silent(), server.URL, "pulumi-controller")
	g.Expect(err).NotTo(HaveOccurred())
	sender.recorder.Client.RetryWaitMin, sender.recorder.Client.RetryWaitMax = time.Microsecond, time.Microsecond
	sender.now = clock(retryWait)

	g.Expect(sender.Send(aStack("app"), nil, "Normal", "R", "done")).To(Succeed())
	g.Expect(posts.Load()).To(BeEquivalentTo(away + 1))
}

func TestAnEventThatNobodyAnswersIsGivenUp(t *testing.T) {
	g := NewWithT(t)
	server := newReceived(t, func(int) int { return http.StatusServiceUnavailable })
	sender, err := newSender(scheme(t), silent(), server.URL, "pulumi-controller")
	g.Expect(err).NotTo(HaveOccurred())
	sender.recorder.Client.RetryWaitMin, sender.recorder.Client.RetryWaitMax = time.Microsecond, time.Microsecond
	sender.now = clock(retryWait)

	g.Expect(sender.Send(aStack("app"), nil, "Normal", "R", "done")).To(MatchError(And(
		ContainSubstring("given up after 200 attempts in 10m"), ContainSubstring("503"))))
	g.Expect(server.count()).To(Equal(200), "those after it wait no longer")
	g.Expect(sender.Send(aStack("app"), nil, "Normal", "R", "done")).NotTo(Succeed())
	g.Expect(server.count()).To(Equal(400), "each event has its time")
}

func TestAFailingEventDoesNotHoldUpOthers(t *testing.T) {
	g := NewWithT(t)
	server := newReceived(t, func(nth int) int {
		if nth <= answers {
			return http.StatusInternalServerError
		}
		return http.StatusAccepted
	})
	q, _ := newQueue(t, server.URL, 10)
	tell(q, aStack("app"), "one")
	tell(q, aStack("other"), "two")
	closed(g, q)
	g.Expect(server.messages()).To(Equal([]string{"two"}))
	g.Expect(testutil.ToFloat64(q.dropped)).To(BeEquivalentTo(1))
}

// With a wrong address, the error would otherwise come only after the whole patience.
func TestTheFirstFailureIsLoggedAtOnceAndOnce(t *testing.T) {
	g := NewWithT(t)
	var lines []string
	away := true
	var reportedAt []int
	server := newReceived(t, func(nth int) int {
		reportedAt = append(reportedAt, len(lines))
		if away && nth%10 != 0 {
			return http.StatusServiceUnavailable
		}
		return http.StatusAccepted
	})
	log := funcr.New(func(_, args string) { lines = append(lines, args) }, funcr.Options{})
	sender, err := newSender(scheme(t), log, server.URL, "pulumi-controller")
	g.Expect(err).NotTo(HaveOccurred())
	sender.recorder.Client.RetryWaitMin, sender.recorder.Client.RetryWaitMax = time.Microsecond, time.Microsecond

	g.Expect(sender.Send(aStack("app"), nil, "Normal", "R", "one")).To(Succeed())
	g.Expect(reportedAt).To(HaveExactElements(0, 1, 1, 1, 1, 1, 1, 1, 1, 1), "reported after the first attempt")
	g.Expect(lines).To(HaveExactElements(
		And(ContainSubstring("cannot send an event"), ContainSubstring("503"), ContainSubstring("--events-addr")),
		ContainSubstring("accepts events again")))

	away = false
	g.Expect(sender.Send(aStack("app"), nil, "Normal", "R", "two")).To(Succeed())
	g.Expect(lines).To(HaveLen(2))
	away = true
	g.Expect(sender.Send(aStack("app"), nil, "Normal", "R", "three")).To(Succeed())
	g.Expect(lines).To(HaveLen(4), "it was there in between")
}

func TestAnAddressWithoutAServerIsLoggedOnce(t *testing.T) {
	g := NewWithT(t)
	var lines []string
	log := funcr.New(func(_, args string) { lines = append(lines, args) }, funcr.Options{})
	sender, err := newSender(scheme(t), log, "http://127.0.0.1:1/", "pulumi-controller")
	g.Expect(err).NotTo(HaveOccurred())
	sender.recorder.Client.RetryWaitMin, sender.recorder.Client.RetryWaitMax = time.Microsecond, time.Microsecond
	sender.now = clock(time.Minute)
	for range 3 {
		g.Expect(sender.Send(aStack("app"), nil, "Normal", "R", "done")).NotTo(Succeed())
	}
	g.Expect(lines).To(ContainElement(ContainSubstring("connection refused")))
	g.Expect(slices.DeleteFunc(lines, func(line string) bool { return !strings.Contains(line, "cannot send an event") })).To(HaveLen(1))
}
