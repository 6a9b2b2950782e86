// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package ui is the server of `flux pulumi ui`: it gives the page of internal/cli/ui/assets to one browser on this
// machine, and shows there what the cluster has, live, with the rights of the person. It must not decide what an action
// does or how a Stack is explained (that have the commands, which it is given as Commands, and internal/cli/ui/view),
// listen anywhere but on loopback, or read a Secret.
package ui

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"strings"
	"time"

	"golang.org/x/net/netutil"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

const (
	// maxMessage bounds a message, in bytes.
	maxMessage = 8 << 10
	// maxBody bounds the body of a request.
	maxBody = 64 << 10
	// maxAnswer bounds an answer, and an event of a stream.
	maxAnswer = 32 << 20
	// maxStreams bounds how many streams are open at a time. A browser opens six at most.
	maxStreams = 32
	// maxConnections bounds how many connections are open at a time, most of which may be of others on this machine.
	maxConnections = 128
	// requestTimeout bounds a request that is no stream, and what a stream reads for one event.
	requestTimeout = 30 * time.Second
)

// Commands are the commands of flux pulumi, as far as the page shows what they show and does what they do.
type Commands interface {
	// Detail returns all that the view of a Stack shows at first.
	Detail(ctx context.Context, stack *v1.Stack) (any, error)
	// Follow follows the run in flight of a Stack until ctx ends, and calls changed whenever Progress has more.
	Follow(ctx context.Context, stack *v1.Stack, changed func())
	// Progress returns what a run has done that is followed, nil if none is. Detail has it as well.
	Progress(stack *v1.Stack) any
	// Part returns one part of a Stack, such as its plan, or of one of its runs.
	Part(ctx context.Context, stack *v1.Stack, part, run string) (any, error)
	// Left returns the history that is left of a Stack that does not exist, nil if there is none, or one run of it.
	Left(ctx context.Context, stack client.ObjectKey, run string) (any, error)
	// Act does an action, and returns what the command says.
	Act(ctx context.Context, stack *v1.Stack, action string, request Request) (string, error)
	// Row returns the row of a Stack in the list of all.
	Row(stack *v1.Stack) any
	// Graph returns what the Stacks depend on, or what is near the Stack in focus, with a message for the person.
	Graph(stacks []*v1.Stack, focus, message string) any
}

// partHistory is the part of a Stack that has its runs, and that may be left of it.
const partHistory = "history"

// ErrNoPart says that a Stack has no such part or action.
var ErrNoPart = errors.New("a Stack has no such part")

// Request is what the page sends with an action.
type Request struct {
	// Digest of the plan to approve or to reject.
	Digest string `json:"digest"`
	// Reason for a rejection.
	Reason string `json:"reason"`
	// Now abandons the operations in flight of a cancelled run.
	Now bool `json:"now"`
	// Force also refreshes the state.
	Force bool `json:"force"`
	// CheckDrift checks for drift and does not run the Stack.
	CheckDrift bool `json:"checkDrift"`
}

// Server serves the page.
type Server struct {
	api      client.WithWatch
	commands Commands
	hub      *hub
	listener net.Listener
	token    string
	handler  http.Handler
	streams  chan struct{}
}

// Options are what a Server needs.
type Options struct {
	API      client.WithWatch
	Commands Commands
	// Files of the page.
	Files fs.FS
	// Port to listen on, a free one if it is 0.
	Port int
}

// Listen returns a server that listens on loopback. It answers when it runs.
func Listen(ctx context.Context, options Options) (*Server, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", fmt.Sprintf("127.0.0.1:%d", options.Port))
	if err != nil {
		return nil, fmt.Errorf("listening for the browser: %w", err)
	}
	s := &Server{api: options.API, commands: options.Commands, hub: newHub(), listener: listener, streams: make(chan struct{}, maxStreams)}
	s.handler, s.token = newGuard(s.port(), s.routes(options.Files))
	return s, nil
}

func (s *Server) port() int { return s.listener.Addr().(*net.TCPAddr).Port }

// URL is the address to open. It is valid once.
func (s *Server) URL() string { return fmt.Sprintf("http://127.0.0.1:%d/?token=%s", s.port(), s.token) }

// Run shows the Stacks of the namespaces, or of all for the namespace "", until ctx ends.
func (s *Server) Run(ctx context.Context, namespaces ...string) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		s.hub.run(ctx, s.api, namespaces)
	}()
	server := &http.Server{
		Handler: s.handler, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 16 << 10,
		BaseContext: func(net.Listener) context.Context { return ctx }, // streams end with it
	}
	ended := context.AfterFunc(ctx, func() { _ = server.Close() }) // of what is open, nothing is worth waiting for
	defer ended()
	err := server.Serve(netutil.LimitListener(s.listener, maxConnections))
	stop()
	<-watched
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return fmt.Errorf("serving the page: %w", err)
}

func (s *Server) routes(files fs.FS) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /", func(w http.ResponseWriter, r *http.Request) { answerFile(w, r, files) })
	mux.HandleFunc("GET /api/", func(w http.ResponseWriter, r *http.Request) {
		refuse(w, http.StatusNotFound, "there is no "+r.URL.Path)
	})
	mux.HandleFunc("GET /api/stacks", s.streamStacks)
	mux.HandleFunc("GET /api/graph", s.answerGraph)
	mux.HandleFunc("GET /api/stacks/{namespace}/{name}", s.onStack(s.answerDetail))
	mux.HandleFunc("GET /api/stacks/{namespace}/{name}/live", s.onKey(s.streamDetail))
	mux.HandleFunc("GET /api/stacks/{namespace}/{name}/{part}", s.onStack(s.answerPart))
	mux.HandleFunc("GET /api/stacks/{namespace}/{name}/history/{run}", s.onKey(s.answerRun))
	mux.HandleFunc("POST /api/stacks/{namespace}/{name}/{action}", s.onStack(s.answerAction))
	return mux
}

// answerFile answers with a file of the page. What is not there is said here, as net/http drops headers with an error.
func answerFile(w http.ResponseWriter, r *http.Request, files fs.FS) {
	name := cmp.Or(strings.TrimPrefix(r.URL.Path, "/"), "index.html")
	if info, err := fs.Stat(files, name); err != nil || !info.Mode().IsRegular() {
		refuse(w, http.StatusNotFound, "there is no "+r.URL.Path)
		return
	}
	http.ServeFileFS(w, r, files, name)
}

// onKey passes on which Stack a request is about.
func (s *Server) onKey(do func(http.ResponseWriter, *http.Request, client.ObjectKey)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		key := client.ObjectKey{Namespace: r.PathValue("namespace"), Name: r.PathValue("name")}
		if len(validation.IsDNS1123Label(key.Namespace)) > 0 || len(validation.IsDNS1123Subdomain(key.Name)) > 0 {
			refuse(w, http.StatusBadRequest, "that is not the name of a Stack")
			return
		}
		do(w, r, key)
	}
}

// onStack passes on the Stack that a request is about, within the time of a request.
func (s *Server) onStack(do func(http.ResponseWriter, *http.Request, *v1.Stack)) http.HandlerFunc {
	return s.onKey(func(w http.ResponseWriter, r *http.Request, key client.ObjectKey) {
		ctx, cancel := context.WithTimeout(r.Context(), requestTimeout)
		defer cancel()
		stack := &v1.Stack{}
		if err := s.api.Get(ctx, key, stack); err != nil {
			fail(w, err)
			return
		}
		do(w, r.WithContext(ctx), stack)
	})
}

func (s *Server) answerGraph(w http.ResponseWriter, r *http.Request) {
	stacks, link := s.hub.all()
	answer(w, s.commands.Graph(stacks, r.URL.Query().Get("focus"), link.Message))
}

func (s *Server) answerDetail(w http.ResponseWriter, r *http.Request, stack *v1.Stack) {
	detail, err := s.commands.Detail(r.Context(), stack)
	answerOr(w, detail, err)
}

func (s *Server) answerPart(w http.ResponseWriter, r *http.Request, stack *v1.Stack) {
	part, err := s.commands.Part(r.Context(), stack, r.PathValue("part"), "")
	answerOr(w, part, err)
}

// answerRun answers with a run of a Stack, also of one that is gone.
func (s *Server) answerRun(w http.ResponseWriter, r *http.Request, key client.ObjectKey) {
	ctx, cancel := context.WithTimeout(r.Context(), requestTimeout)
	defer cancel()
	stack, run := &v1.Stack{}, r.PathValue("run")
	err := s.api.Get(ctx, key, stack)
	if apierrors.IsNotFound(err) {
		left, leftErr := s.commands.Left(ctx, key, run)
		if leftErr == nil && left == nil {
			leftErr = err
		}
		answerOr(w, left, leftErr)
		return
	}
	if err != nil {
		fail(w, err)
		return
	}
	shown, err := s.commands.Part(ctx, stack, partHistory, run)
	answerOr(w, shown, err)
}

func (s *Server) answerAction(w http.ResponseWriter, r *http.Request, stack *v1.Stack) {
	var request Request
	if err := readBody(w, r, &request); err != nil {
		fail(w, err)
		return
	}
	message, err := s.commands.Act(r.Context(), stack, r.PathValue("action"), request)
	answerOr(w, map[string]string{"message": message}, err)
}

// compareKeys orders by namespace and name.
func compareKeys(a, b client.ObjectKey) int {
	return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
}
