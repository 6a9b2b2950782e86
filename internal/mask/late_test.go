// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package mask

import (
	"encoding/base64"
	"sync"
	"testing"

	. "github.com/onsi/gomega"
)

func TestLateValuesAreMasked(t *testing.T) {
	g := NewWithT(t)
	var values []string
	m := New([]string{"hunter22"})
	m.Follow(func() []string { return values })
	g.Expect(m.Apply("hunter22 first-token second-token")).To(Equal("*** first-token second-token"))
	values = []string{"first-token"}
	g.Expect(m.Apply("hunter22 first-token second-token")).To(Equal("*** *** second-token"))
	values = []string{"first-token", "second-token"}
	g.Expect(m.Apply("hunter22 first-token second-token")).To(Equal("*** *** ***"))
	g.Expect(m.Apply(base64.StdEncoding.EncodeToString([]byte("second-token")))).To(Equal("***"))
	values = []string{"second-token"}
	g.Expect(m.Apply("first-token second-token")).To(Equal("first-token ***"), "one that has expired harms nobody")
	m.Follow(nil)
	g.Expect(m.Apply("second-token")).To(Equal("second-token"))
}

func TestLateMasksAreSafeForConcurrentUse(t *testing.T) {
	g := NewWithT(t)
	var mu sync.Mutex
	values := []string{"token-a"}
	m := New(nil)
	m.Follow(func() []string {
		mu.Lock()
		defer mu.Unlock()
		return append([]string{}, values...)
	})
	var work sync.WaitGroup
	for range 4 {
		work.Go(func() {
			for range 100 {
				g.Expect(m.Apply("token-a")).To(Equal("***"))
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
