// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"encoding/base64"
	"sync"
	"testing"

	. "github.com/onsi/gomega"
)

func TestValuesThatComeUpLaterAreMasked(t *testing.T) {
	g := NewWithT(t)
	var values []string
	m := newMasker([]string{"hunter22"})
	m.late = lateMasks(func() []string { return values })
	g.Expect(m.apply("hunter22 first-token second-token")).To(Equal("*** first-token second-token"))
	values = []string{"first-token"}
	g.Expect(m.apply("hunter22 first-token second-token")).To(Equal("*** *** second-token"))
	values = []string{"first-token", "second-token"}
	g.Expect(m.apply("hunter22 first-token second-token")).To(Equal("*** *** ***"))
	g.Expect(m.apply(base64.StdEncoding.EncodeToString([]byte("second-token")))).To(Equal("***"))
	values = []string{"second-token"}
	g.Expect(m.apply("first-token second-token")).To(Equal("first-token ***"), "one that has expired harms nobody")
	g.Expect(lateMasks(nil).apply("x")).To(Equal("x"))
}

func TestLateMasksAreSafeForConcurrentUse(t *testing.T) {
	g := NewWithT(t)
	var mu sync.Mutex
	values := []string{"token-a"}
	m := newMasker(nil)
	m.late = lateMasks(func() []string {
		mu.Lock()
		defer mu.Unlock()
		return append([]string{}, values...)
	})
	var work sync.WaitGroup
	for range 4 {
		work.Go(func() {
			for range 100 {
				g.Expect(m.apply("token-a")).To(Equal("***"))
			}
		})
	}
	for range 20 {
		mu.Lock()
		values = append([]string{"token-a"}, values...)
		mu.Unlock()
	}
	work.Wait()
}
