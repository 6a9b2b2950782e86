// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"

	. "github.com/onsi/gomega"
)

// forge stands in for the part of GitHub's REST API that commit statuses need, where a GitHub Enterprise server has it.
type forge struct {
	url string

	mu       sync.Mutex
	statuses map[string][]commitStatus // by commit, the newest first
}

// commitStatus is what GitHub stores for each context of a commit.
type commitStatus struct {
	State       string `json:"state"`
	Context     string `json:"context"`
	Description string `json:"description"`
}

// maxBody bounds the requests that a stand-in reads.
const maxBody = 1 << 20

func readAll(r *http.Request) ([]byte, error) { return io.ReadAll(io.LimitReader(r.Body, maxBody)) }

// forge starts a forge for the duration of the test.
func (t *tenant) forge() *forge {
	f := &forge{statuses: map[string][]commitStatus{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/v3/repos/acme/infra/commits/{commit}/statuses", f.list)
	mux.HandleFunc("POST /api/v3/repos/acme/infra/statuses/{commit}", f.create)
	server := httptest.NewServer(mux)
	t.test.Cleanup(server.Close)
	f.url = server.URL + "/acme/infra"
	return f
}

func (f *forge) list(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	statuses := f.statuses[r.PathValue("commit")]
	if statuses == nil {
		statuses = []commitStatus{}
	}
	_ = json.NewEncoder(w).Encode(statuses) // the client may be gone
}

func (f *forge) create(w http.ResponseWriter, r *http.Request) {
	body, err := readAll(r)
	var status commitStatus
	if err != nil || json.Unmarshal(body, &status) != nil || r.Header.Get("Authorization") != "Bearer t0ken" {
		http.Error(w, "{}", http.StatusUnprocessableEntity)
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	commit := r.PathValue("commit")
	f.statuses[commit] = append([]commitStatus{status}, f.statuses[commit]...)
	w.WriteHeader(http.StatusCreated)
	_ = json.NewEncoder(w).Encode(status)
}

// of returns the statuses of a commit, newest first.
func (f *forge) of(commit string) []commitStatus {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]commitStatus(nil), f.statuses[commit]...)
}

// commits counts the commits that have a status.
func (f *forge) commits() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.statuses)
}

// awaitStatus waits until this is the newest status of a commit.
func (t *tenant) awaitStatus(f *forge, commit, state, description string) {
	t.test.Helper()
	t.Eventually(func(g Gomega) {
		statuses := f.of(commit)
		g.Expect(statuses).NotTo(BeEmpty(), "commit %s has no status", commit)
		g.Expect(statuses[0].State).To(Equal(state))
		g.Expect(statuses[0].Description).To(Equal(description))
		g.Expect(statuses[0].Context).To(HavePrefix("stack/app/"))
	}).Should(Succeed())
}
