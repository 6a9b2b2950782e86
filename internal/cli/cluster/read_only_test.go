// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"net/http"
	"net/url"
	"testing"

	. "github.com/onsi/gomega"
)

func TestAClientThatReadsSendsNoOtherRequest(t *testing.T) {
	for method, want := range map[string]int{
		http.MethodGet: 1, http.MethodHead: 1,
		http.MethodPost: 0, http.MethodPut: 0, http.MethodPatch: 0, http.MethodDelete: 0, http.MethodOptions: 0, "": 0,
	} {
		t.Run(method, func(t *testing.T) {
			g := NewWithT(t)
			next := &countingTransport{}
			request := (&http.Request{Method: method, Header: http.Header{}}).WithContext(t.Context())
			var err error
			request.URL, err = url.Parse("https://example.com/apis")
			g.Expect(err).NotTo(HaveOccurred())
			_, err = readOnly{next}.RoundTrip(request)
			g.Expect(next.requests).To(Equal(want))
			g.Expect(err == nil).To(Equal(want == 1), "%v", err)
		})
	}
}
