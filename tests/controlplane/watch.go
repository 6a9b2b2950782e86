// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/flux-pulumi/pulumi-controller/tests/process"
)

// maxSilence is the default of Options.Silence. It is longer than what a busy machine needs for a request, and shorter than
// what a test waits for.
const maxSilence = 2 * time.Minute

// watch notices when etcd or the API server fails. A test that waits for an object could only say that it waited in vain.
type watch struct {
	silence time.Duration

	alive context.Context
	fail  context.CancelCauseFunc
	// watching ends with the control plane.
	watching context.Context
	unwatch  context.CancelFunc
	// unwatchServer is called before the API server is stopped on purpose.
	unwatchServer context.CancelFunc
	// etcdUnwatched and serverUnwatched are closed once nothing watches the process any more.
	etcdUnwatched, serverUnwatched chan struct{}
}

func newWatch(silence time.Duration) watch {
	w := watch{silence: cmp.Or(silence, maxSilence), unwatchServer: func() {}}
	w.alive, w.fail = context.WithCancelCause(context.Background())
	w.watching, w.unwatch = context.WithCancel(context.Background())
	return w
}

// Context ends when etcd or the API server fails: when it ends by itself, or leaves all requests unanswered. Its cause says
// why. Both are killed before, so that no request has to time out, and the ends of their logs are on stderr. It does not end
// when they are stopped.
func (w *watch) Context() context.Context { return w.alive }

// watchEtcd watches etcd until the control plane is stopped.
func (c *ControlPlane) watchEtcd(etcd *process.Process) {
	unwatched := make(chan struct{})
	c.etcdUnwatched = unwatched
	go func() {
		defer close(unwatched)
		select {
		case <-c.watching.Done():
		case <-etcd.Done():
			c.failed(c.watching, "etcd has ended: "+etcd.Ending())
		}
	}()
}

// watchServer watches the API server until it is stopped on purpose. The probe must take an answer of etcd.
func (c *ControlPlane) watchServer(server *process.Process, probe func(context.Context) error) {
	ctx, cancel := context.WithCancel(c.watching)
	unwatched := make(chan struct{})
	c.unwatchServer, c.serverUnwatched = cancel, unwatched
	go func() {
		defer close(unwatched)
		tick := time.NewTicker(c.silence / 20)
		defer tick.Stop()
		for answered := time.Now(); ; {
			select {
			case <-ctx.Done():
				return
			case <-server.Done():
				c.failed(ctx, "kube-apiserver has ended: "+server.Ending())
				return
			case <-tick.C:
			}
			if err := probe(ctx); err == nil {
				answered = time.Now()
			} else if silent := time.Since(answered); silent > c.silence {
				c.failed(ctx, fmt.Sprintf("kube-apiserver has not answered for %s: %v", silent.Round(time.Second), err))
				return
			}
		}
	}()
}

// failed ends the control plane, unless ctx has ended, which means that this is on purpose.
func (c *ControlPlane) failed(ctx context.Context, why string) {
	if ctx.Err() != nil {
		return
	}
	c.unwatch()
	cause := fmt.Errorf("the control plane has failed: %s; %s", why, process.Room(c.dir))
	var text strings.Builder
	fmt.Fprintln(&text, cause)
	for _, p := range c.processes() {
		fmt.Fprintf(&text, "the end of the log of %s:\n%s\n", p.Name(), p.LogTail())
	}
	for _, p := range c.processes() {
		if err := p.Kill(); err != nil {
			fmt.Fprintln(&text, err)
		}
	}
	fmt.Fprint(os.Stderr, text.String())
	c.fail(cause)
}
