// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"
)

const probeInterval = 50 * time.Millisecond

// Await calls probe until it succeeds. It gives up when the process ends, or timeout or
// ctx is over. The error has the last error of the probe and the end of the log. A failed
// Await leaves the process running.
func (p *Process) Await(ctx context.Context, timeout time.Duration, probe func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	tick := time.NewTicker(probeInterval)
	defer tick.Stop()
	last := errors.New("never asked")
	for {
		if err := probe(ctx); err == nil {
			return nil
		} else if ctx.Err() == nil {
			last = err
		}
		select {
		case <-p.done:
			return fmt.Errorf("%s ended before it was ready: %w", p.spec.Name, p.Wait())
		case <-ctx.Done():
			return fmt.Errorf("%s was not ready after %s: %w; last answer: %w; the end of its log:\n%s",
				p.spec.Name, timeout, ctx.Err(), last, p.LogTail())
		case <-tick.C:
		}
	}
}

// HTTPProbe returns a probe for Await that succeeds when a GET of the URL is answered with status 200.
func HTTPProbe(client *http.Client, url string) func(context.Context) error {
	return func(ctx context.Context) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		response, err := client.Do(request)
		if err != nil {
			return err
		}
		defer func() { _ = response.Body.Close() }()
		if response.StatusCode != http.StatusOK {
			return fmt.Errorf("%s answered %s", url, response.Status)
		}
		return nil
	}
}

// TCPProbe returns a probe for Await that succeeds when something listens on the address.
func TCPProbe(address string) func(context.Context) error { return dialProbe("tcp", address) }

// SocketProbe returns a probe for Await that succeeds when something listens on the socket
// at that path.
func SocketProbe(path string) func(context.Context) error { return dialProbe("unix", path) }

func dialProbe(network, address string) func(context.Context) error {
	return func(ctx context.Context) error {
		connection, err := new(net.Dialer).DialContext(ctx, network, address)
		if err != nil {
			return err
		}
		return connection.Close()
	}
}
