// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"syscall"
)

// The ports lie below Linux's ephemeral ports (32768 and up): an outgoing connection
// could take the port of a program during its restart.
const (
	firstPort = 10000
	endPort   = 32000
	maxTries  = 100
)

// FreePorts returns n different TCP ports that are free on the loopback address. No other
// caller on this machine gets one of them before this process has ended: a program may be
// slow to listen on its port.
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

// listen listens on a free port that nobody has reserved.
func listen() (listener net.Listener, err error) {
	for range maxTries {
		port := firstPort + rand.IntN(endPort-firstPort)
		if err = reserve(port); err != nil {
			continue
		}
		if listener, err = net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port))); err == nil {
			return listener, nil
		}
	}
	return nil, err
}

// reserve fails if the port is reserved. A reservation is an abstract socket of Linux,
// which the kernel removes at the end of this process. A port that others listen on stays
// reserved, too.
func reserve(port int) error {
	socket, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("reserving port %d: %w", port, err)
	}
	if err := syscall.Bind(socket, &syscall.SockaddrUnix{Name: fmt.Sprintf("@pulumi-controller-port-%d", port)}); err != nil {
		return errors.Join(fmt.Errorf("reserving port %d: %w", port, err), syscall.Close(socket))
	}
	return nil
}

// FreePort returns one port, like FreePorts.
func FreePort() (int, error) {
	ports, err := FreePorts(1)
	if err != nil {
		return 0, err
	}
	return ports[0], nil
}
