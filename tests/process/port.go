// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
)

// The ports lie below Linux's ephemeral ports (32768 and up): an outgoing connection
// could take the port of a program during its restart.
const (
	firstPort = 10000
	endPort   = 32000
	maxTries  = 100
)

// FreePorts returns n different TCP ports that are free on the loopback address. Another
// program can take one before it is used, which is unlikely among thousands.
func FreePorts(n int) ([]int, error) {
	ports := make([]int, 0, n)
	listeners := make([]net.Listener, 0, n)
	var errs []error
	for range n {
		// All are held until the last one is found, so that they differ.
		listener, err := listen()
		if err != nil {
			errs = append(errs, fmt.Errorf("finding a free port: %w", err))
			break
		}
		listeners = append(listeners, listener)
		ports = append(ports, listener.Addr().(*net.TCPAddr).Port)
	}
	for _, listener := range listeners {
		if err := listener.Close(); err != nil {
			errs = append(errs, fmt.Errorf("releasing a port: %w", err))
		}
	}
	return ports, errors.Join(errs...)
}

// listen listens on a free port.
func listen() (listener net.Listener, err error) {
	for range maxTries {
		port := firstPort + rand.IntN(endPort-firstPort)
		if listener, err = net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port))); err == nil {
			return listener, nil
		}
	}
	return nil, err
}

// FreePort returns one port, like FreePorts.
func FreePort() (int, error) {
	ports, err := FreePorts(1)
	if err != nil {
		return 0, err
	}
	return ports[0], nil
}
