// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/flux-pulumi/pulumi-controller/internal/cli/ui/assets"
)

// object is JSON as the server of the page answers it.
type object = map[string]any

// standIn answers the page with what a test gives it: what no cluster would say as quickly, or at all.
type standIn struct {
	url string

	mu      sync.Mutex
	answers map[string]any // by the path below /api/
	posted  []string
	streams map[chan string]string
}

const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

func newStandIn(t *testing.T, stacks []object) *standIn {
	t.Helper()
	files, err := assets.Files()
	if err != nil {
		t.Fatal(err)
	}
	s := &standIn{answers: map[string]any{}, streams: map[chan string]string{}}
	s.answers["stacks"] = object{"reset": true, "upserts": stacks}
	mux := http.NewServeMux()
	mux.Handle("GET /", http.FileServerFS(files))
	mux.HandleFunc("GET /api/", s.get)
	mux.HandleFunc("POST /api/", s.post)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", policy)
		w.Header().Set("Cache-Control", "no-store")
		mux.ServeHTTP(w, r)
	}))
	// Streams are open until the browser ends.
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	s.url = server.URL
	return s
}

func (s *standIn) answer(path string, value any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers[path] = value
}

func (s *standIn) get(w http.ResponseWriter, r *http.Request) {
	path := strings.TrimPrefix(r.URL.Path, "/api/")
	if path == "stacks" {
		s.stream(w, r, path, "stacks")
		return
	}
	if stack, ok := strings.CutSuffix(path, "/live"); ok {
		s.stream(w, r, stack, "detail")
		return
	}
	s.mu.Lock()
	value, ok := s.answers[path]
	s.mu.Unlock()
	if !ok {
		w.WriteHeader(http.StatusNotFound)
		value = object{"error": fmt.Sprintf("%s is not there", path)}
	}
	_ = json.NewEncoder(w).Encode(value)
}

func (s *standIn) post(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, 1<<16))
	if err != nil || r.Header.Get("X-Flux-Pulumi") != "1" {
		w.WriteHeader(http.StatusForbidden)
		_ = json.NewEncoder(w).Encode(object{"error": "the header is missing"})
		return
	}
	s.mu.Lock()
	s.posted = append(s.posted, strings.TrimPrefix(r.URL.Path, "/api/")+" "+string(body))
	refusal := s.answers["POST "+strings.TrimPrefix(r.URL.Path, "/api/")]
	s.mu.Unlock()
	if refusal != nil {
		w.WriteHeader(http.StatusForbidden)
		_ = json.NewEncoder(w).Encode(refusal)
		return
	}
	_ = json.NewEncoder(w).Encode(object{"message": "done"})
}

func (s *standIn) stream(w http.ResponseWriter, r *http.Request, path, event string) {
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(event string, value any) {
		data, err := json.Marshal(value)
		if err == nil {
			_, _ = fmt.Fprintf(w, "event: %s\ndata: %s\n\n", event, data)
		}
	}
	lines := make(chan string, 100)
	s.mu.Lock()
	first := s.answers[path]
	s.streams[lines] = path
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.streams, lines)
		s.mu.Unlock()
	}()
	send("status", object{"connected": true})
	if first != nil {
		send(event, first)
	}
	controller := http.NewResponseController(w)
	_ = controller.Flush()
	for {
		select {
		case <-r.Context().Done():
			return
		case line := <-lines:
			_, _ = io.WriteString(w, line)
			_ = controller.Flush()
		}
	}
}

// say sends an event to all who listen at the path.
func (s *standIn) say(path, event string, value any) {
	data, err := json.Marshal(value)
	if err != nil {
		panic(err) // of a test's own literals
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for lines, of := range s.streams {
		if of == path {
			lines <- fmt.Sprintf("event: %s\ndata: %s\n\n", event, data)
		}
	}
}

// open is how many streams are open.
func (s *standIn) open() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.streams)
}

func (s *standIn) requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.posted...)
}

func quoted(text string) string {
	data, err := json.Marshal(text)
	if err != nil {
		panic(err) // no text fails
	}
	return string(data)
}

func before(d time.Duration) string { return time.Now().Add(-d).UTC().Format(time.RFC3339) }
