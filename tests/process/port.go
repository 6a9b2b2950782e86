// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"errors"
	"fmt"
	"net"
)

// FreePorts returns n different TCP ports that are free on the loopback address. Another program can take one before it
// is used, so call it immediately before the start of the program that gets them; the kernel hands out such ports at
// random, which makes that rare.
func FreePorts(n int) ([]int, error) {
	ports := make([]int, 0, n)
	listeners := make([]net.Listener, 0, n)
	var errs []error
	for range n {
		// All are held until the last one is found, so that they differ.
		listener, err := net.Listen("tcp4", "127.0.0.1:0")
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

// FreePort returns one port, as FreePorts does.
func FreePort() (int, error) {
	ports, err := FreePorts(1)
	if err != nil {
		return 0, err
	}
	return ports[0], nil
}
