// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"net/http"
	"testing"

	. "github.com/onsi/gomega"
)

type countingTransport struct{ requests int }

func (c *countingTransport) RoundTrip(*http.Request) (*http.Response, error) {
	c.requests++
	return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil
}

func TestNoDiscoveryRequestIsMadeAfterTheEnd(t *testing.T) {
	g := NewWithT(t)
	ctx, end := context.WithCancelCause(t.Context())
	server := &countingTransport{}
	transport := &endingTransport{ctx, server}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://example.com/version", nil)
	g.Expect(err).NotTo(HaveOccurred())

	response, err := transport.RoundTrip(request)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(response.Body.Close()).To(Succeed())
	interrupted := errors.New("interrupted")
	end(interrupted)
	response, err = transport.RoundTrip(request)
	g.Expect(err).To(MatchError(interrupted))
	g.Expect(response).To(BeNil())
	g.Expect(server.requests).To(Equal(1))
}
