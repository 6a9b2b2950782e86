// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package notify

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

// clock is one that each look moves on.
func clock(step time.Duration) func() time.Time {
	at := time.Unix(0, 0)
	return func() time.Time {
		at = at.Add(step)
		return at
	}
}

func TestAnEventWaitsForANotificationControllerThatIsAway(t *testing.T) {
	g := NewWithT(t)
	const away = 150 // attempts of 3 s are more than seven minutes
	var posts atomic.Int32
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		nth := int(posts.Add(1))
		switch {
		case nth <= away/2:
			panic(http.ErrAbortHandler) // the connection is cut without an answer
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

func TestAnEventThatFailsKeepsNoOtherWaiting(t *testing.T) {
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
