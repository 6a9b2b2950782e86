// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package keeper

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"time"

	"github.com/flux-pulumi/pulumi-controller/internal/snapshot"
)

// Serve keeps at most so many snapshots of a namespace, for the first client that connects to the
// socket, once for each. It returns when that one has closed its connections, or ctx is done.
func Serve(ctx context.Context, socket string, store *snapshot.Store, namespace string, snapshots int) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	listener, err := new(net.ListenConfig).Listen(ctx, "unix", socket)
	if err != nil {
		return fmt.Errorf("waiting for the run: %w", err)
	}
	defer context.AfterFunc(ctx, func() { _ = listener.Close() })()
	ended := make(chan error, snapshots)
	for range snapshots {
		conn, err := listener.Accept()
		if err != nil {
			return errors.Join(fmt.Errorf("waiting for the run: %w", err), context.Cause(ctx))
		}
		go func() { ended <- serveOne(ctx, conn, store, namespace) }()
	}
	errs := []error{ignoreClosed(listener.Close())}
	for range snapshots {
		errs = append(errs, <-ended)
	}
	return errors.Join(errs...)
}

func serveOne(ctx context.Context, conn net.Conn, store *snapshot.Store, namespace string) error {
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	k := keeping{conn: conn, store: store}
	err := k.serve(ctx, namespace)
	if errors.Is(err, io.EOF) || errors.Is(err, net.ErrClosed) {
		err = nil // the client has all that it wanted
	}
	return errors.Join(err, ignoreClosed(conn.Close()))
}

func ignoreClosed(err error) error {
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// keeping is one connection.
type keeping struct {
	conn  net.Conn
	store *snapshot.Store
	id    snapshot.ID
}

func (k *keeping) serve(ctx context.Context, namespace string) error {
	k.id.Namespace = namespace
	if _, err := io.ReadFull(k.conn, k.id.Key[:]); err != nil {
		return err
	}
	var patience int64
	if err := binary.Read(k.conn, binary.BigEndian, &patience); err != nil {
		return err
	}
	release, err := k.reserve(ctx, time.Duration(patience))
	if answered := k.answer(err); err != nil || answered != nil {
		return errors.Join(err, answered)
	}
	defer func() { _ = release() }() // the end of the process releases it, too
	for {
		var size uint64
		if err := binary.Read(k.conn, binary.BigEndian, &size); err != nil {
			return err
		}
		if size == 0 {
			err = k.store.Discard(k.id)
		} else {
			err = k.store.Receive(k.id, int64(min(size, math.MaxInt64)), k.conn)
		}
		if answered := k.answer(err); err != nil || answered != nil {
			return errors.Join(err, answered)
		}
	}
}

// reserve waits for other runs, but no longer than the client does, which sends nothing meanwhile.
func (k *keeping) reserve(ctx context.Context, patience time.Duration) (release func() error, err error) {
	waiting, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, err := k.conn.Read(make([]byte, 1))
		cancel(err)
	}()
	release, err = k.store.Reserve(waiting, k.id, patience, func() {
		_, _ = k.conn.Write([]byte{isWaiting}) // it is only for people
	})
	unblocked := k.conn.SetReadDeadline(time.Unix(1, 0))
	<-ended
	return release, errors.Join(err, unblocked, k.conn.SetReadDeadline(time.Time{}))
}

const (
	// isWaiting says that the answer comes later, as another run is installing the same.
	isWaiting = math.MaxUint8
	// maxAnswer bounds an answer, whose length is one byte.
	maxAnswer = math.MaxUint8 - 1
)

// answer sends why something has failed.
func (k *keeping) answer(err error) error {
	text := ""
	if err != nil {
		text = err.Error()
		text = text[:min(len(text), maxAnswer)]
	}
	_, sent := k.conn.Write(append([]byte{byte(len(text))}, text...))
	return sent
}
