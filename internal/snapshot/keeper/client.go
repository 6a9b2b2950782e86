// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package keeper

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"time"

	"github.com/flux-pulumi/pulumi-controller/internal/snapshot"
)

// Client has snapshots of a directory that this process only reads, and keeps new ones with the
// help of a keeper. It is for one run, and not safe for concurrent use.
type Client struct {
	*snapshot.Store
	// conn is that of the snapshot that was locked last, or is locked next. It is nil if nothing is
	// kept, or nothing any more.
	conn *net.UnixConn
	// next are the connections of the snapshots after that.
	next []*net.UnixConn
}

// ReadOnly keeps nothing.
func ReadOnly(dir string) *Client { return &Client{Store: snapshot.NewReadOnly(dir)} }

// dialInterval is how often to try to connect.
const dialInterval = 20 * time.Millisecond

// Dial waits until a keeper of as many snapshots listens. Nothing that is not trusted may be started
// before, not even if it fails: the keeper serves whoever connects first.
func Dial(ctx context.Context, socket, dir string, snapshots int) (*Client, error) {
	client := ReadOnly(dir)
	for range snapshots {
		conn, err := dial(ctx, socket)
		if err != nil {
			return nil, errors.Join(err, client.Close())
		}
		client.next = append(client.next, conn)
	}
	client.use()
	return client, nil
}

// use takes the next connection, if there is one.
func (c *Client) use() {
	if c.conn = nil; len(c.next) > 0 {
		c.conn, c.next = c.next[0], c.next[1:]
	}
}

func dial(ctx context.Context, socket string) (*net.UnixConn, error) {
	for {
		conn, err := new(net.Dialer).DialContext(ctx, "unix", socket)
		if err == nil {
			return conn.(*net.UnixConn), nil
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("%w: %w", context.Cause(ctx), err)
		case <-time.After(dialInterval):
		}
	}
}

// Close lets the keeper end.
func (c *Client) Close() error {
	var errs []error
	for c.conn != nil || len(c.next) > 0 {
		errs = append(errs, c.closeOne())
	}
	return errors.Join(errs...)
}

// closeOne lets the keeper know that it has all of the current snapshot.
func (c *Client) closeOne() error {
	var err error
	if c.conn != nil {
		err = c.conn.Close()
	}
	c.use()
	return err
}

// Lock waits until no other run is installing the same, though not for ever, and calls waiting before.
// After as many unlocks as the client has connections, nothing is kept any more.
func (c *Client) Lock(ctx context.Context, id snapshot.ID, waiting func()) (unlock func(), err error) {
	if c.conn == nil {
		return func() {}, nil
	}
	patience := snapshot.Patience(ctx)
	request := binary.BigEndian.AppendUint64(id.Key[:], uint64(patience))
	// The keeper answers after that time, unless its volume is away.
	answered, cancel := context.WithTimeoutCause(ctx, patience+patience/2, errors.New("the volume of the snapshots does not answer"))
	defer cancel()
	if err := c.call(answered, request, waiting); err != nil {
		return nil, errors.Join(err, c.closeOne())
	}
	return func() { _ = c.closeOne() }, nil // the keeper has answered
}

// Restore copies a snapshot into a workspace, as that of the Store, and has it removed if it
// cannot be used.
func (c *Client) Restore(ctx context.Context, id snapshot.ID, root *os.Root) (bool, error) {
	found, err := c.Store.Restore(ctx, id, root)
	if snapshot.IsUseless(err) && ctx.Err() == nil && c.conn != nil {
		err = errors.Join(err, c.call(ctx, sizeOf(0), nil))
	}
	return found, err
}

// Save sends the named files, directories and links of a workspace to the keeper. They become the
// snapshot that was locked.
func (c *Client) Save(ctx context.Context, _ snapshot.ID, root *os.Root, names []string) (err error) {
	if c.conn == nil {
		return errors.New("the pod of this run keeps none")
	}
	size, err := snapshot.SizeOf(root, names)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, saveTimeout, errors.New("the volume of the snapshots does not answer"))
	defer cancel()
	conn := c.conn
	defer context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })()
	defer func() {
		if err != nil && ctx.Err() != nil {
			err = context.Cause(ctx)
		}
	}()
	_, err = c.conn.Write(sizeOf(max(size, 1)))
	if err == nil {
		err = snapshot.Write(c.conn, root, names)
	}
	if isGone := errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET); err != nil && !isGone {
		return err // the keeper drops what has no end
	}
	return c.readAnswer(c.conn.CloseWrite(), nil)
}

// saveTimeout bounds the time in which a keeper writes a snapshot. Its volume may be away. After that,
// other keepers take it for abandoned.
const saveTimeout = 10 * time.Minute

// Cache is not available: a cache is written in place by tools that run the code of others.
func (c *Client) Cache(string) (*snapshot.Cache, error) { return nil, errors.ErrUnsupported }

func sizeOf(size int64) []byte { return binary.BigEndian.AppendUint64(nil, uint64(size)) }

// call sends a request and returns what has failed. It ends with ctx.
func (c *Client) call(ctx context.Context, request []byte, waiting func()) error {
	conn := c.conn
	defer context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })()
	_, err := conn.Write(request)
	err = c.readAnswer(err, waiting)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// readAnswer reads an answer if the request was sent.
func (c *Client) readAnswer(sent error, waiting func()) error {
	length := []byte{isWaiting}
	for sent == nil && length[0] == isWaiting {
		_, sent = io.ReadFull(c.conn, length)
		if sent == nil && length[0] == isWaiting && waiting != nil {
			waiting()
		}
	}
	text := make([]byte, length[0])
	if sent == nil {
		_, sent = io.ReadFull(c.conn, text)
	}
	switch {
	case sent != nil:
		return fmt.Errorf("asking the container that keeps dependencies: %w", sent)
	case len(text) > 0:
		return errors.New(string(text))
	}
	return nil
}
