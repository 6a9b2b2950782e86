// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
)

// controlSocket accepts requests to kill a component, and to start it again. It is in
// /run of the node, which only those can reach who may access the processes of root.
const controlSocket = "/run/node.sock"

// On returns the path, on the machine, of a path on the node with that first process.
func On(pid int, path string) string { return filepath.Join(fmt.Sprintf("/proc/%d/root", pid), path) }

func (r *running) serveControl() (*http.Server, error) {
	listener, err := net.Listen("unix", controlSocket)
	if err != nil {
		return nil, err
	}
	handle := func(do func(string) error) http.HandlerFunc {
		return func(w http.ResponseWriter, request *http.Request) {
			if err := do(request.PathValue("component")); err != nil {
				http.Error(w, err.Error(), http.StatusConflict)
			}
		}
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /kill/{component}", handle(r.kill))
	mux.HandleFunc("POST /start/{component}", handle(r.again))
	server := &http.Server{Handler: mux, ReadHeaderTimeout: startTimeout}
	go func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			fmt.Fprintln(os.Stderr, "node: taking orders:", err)
		}
	}()
	return server, nil
}

// Control asks the node with that first process to kill, or to start, a component.
func Control(ctx context.Context, pid int, verb, component string) error {
	client := http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", On(pid, controlSocket))
	}}}
	defer client.CloseIdleConnections()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://node/"+verb+"/"+component, nil)
	if err != nil {
		return err
	}
	answer, err := client.Do(request)
	if err != nil {
		return fmt.Errorf("asking the node to %s %s: %w", verb, component, err)
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusOK {
		said, _ := io.ReadAll(io.LimitReader(answer.Body, 64<<10))
		return fmt.Errorf("asking the node to %s %s: %s", verb, component, strings.TrimSpace(string(said)))
	}
	return nil
}
