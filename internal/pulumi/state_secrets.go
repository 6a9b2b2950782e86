// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/flux-pulumi/pulumi-controller/internal/mask"
)

const (
	// maxPlainState bounds the state that is read for its secrets, in bytes. Unlike the
	// state of a recovery it is held in memory as a whole.
	maxPlainState = 32 << 20
	// readPatience is how long reading the secrets may take; stopPatience, once the run
	// is to stop.
	readPatience = 30 * time.Second
	stopPatience = 5 * time.Second
	// maxHeld and maxHeldBytes bound the lines that wait for the secrets.
	maxHeld      = 1000
	maxHeldBytes = 1 << 20
)

// heldLines holds back log lines until the secrets of the state are known.
type heldLines struct {
	lines []toldLine
	bytes int
	// left counts the lines dropped.
	left int
	// warned is set if there is an error or a warning among the lines: programs write
	// to standard error for any reason.
	warned bool
}

func (h *heldLines) add(l toldLine, warns bool) {
	h.warned = h.warned || warns
	size := len(l.urn) + len(l.lead) + len(l.text.raw)
	if len(h.lines) >= maxHeld || h.bytes+size > maxHeldBytes {
		h.left++
		return
	}
	h.lines = append(h.lines, l)
	h.bytes += size
}

// disclose logs the diagnostics of the run once the secrets in the state can be masked
// in them: an error may contain a value from another resource, or one that the program
// itself made secret. It reads the state only if there is something to show. If it
// cannot read the state, it masks the secrets known so far.
func (s *session) disclose(ctx context.Context, last exit) {
	failed := last.code != 0 && last.code != exitHasChanges && s.events.began
	if s.prepared != nil && s.found && (failed || s.held.warned) {
		secrets, err := s.stateSecrets(ctx)
		if err != nil {
			s.say(fmt.Sprintf("the secrets of the state are not masked in what follows, as they cannot be read: %v", err))
		}
		s.mask.Learn(secrets)
	}
	s.events.remask()
	for _, held := range s.held.lines {
		s.say(held.masked(s.mask))
	}
	if s.held.left > 0 {
		s.say(fmt.Sprintf("%d more lines of diagnostics are left out", s.held.left))
	}
	s.held = heldLines{}
}

// stateSecrets has the CLI print the state with plaintext secrets. They go through a
// pipe and never reach a file, even if this process is killed. A run that is to stop
// waits only briefly.
func (s *session) stateSecrets(ctx context.Context) ([]string, error) {
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), readPatience)
	defer cancel()
	// The request to stop may have come before, or may come meanwhile.
	defer context.AfterFunc(ctx, func() { time.AfterFunc(stopPatience, cancel) })()

	printed := &capture{limit: maxPlainState}
	last, err := s.driver.readOnly(bounded, command{
		args: []string{"--non-interactive", "--color=never", "stack", "export", "--show-secrets", "--stack", s.stack},
		dir:  s.program, env: s.env, pids: s.dir.pids(),
		stdout: s.dir.stdout(), stderr: s.dir.stderr(), capture: printed,
		events: &follower{say: s.say},
	})
	switch {
	case err != nil:
		return nil, err
	case last.code != 0:
		return nil, errors.New(failureMessage(nil, last.stderr.masked(s.mask), last.code))
	case printed.over:
		return nil, fmt.Errorf("the state is longer than %d bytes", maxPlainState)
	}
	return mask.InState(printed.text.Bytes())
}

// readOnly makes a CLI call that changes and locks nothing and can be killed.
func (d *Driver) readOnly(ctx context.Context, c command) (exit, error) {
	p, err := d.start(c)
	if err != nil {
		return exit{}, fmt.Errorf("starting Pulumi: %w", err)
	}
	defer p.close()
	select {
	case <-p.done:
		return p.exit(false), nil
	case <-ctx.Done():
		_ = p.cmd.Process.Kill() // fails only if it has ended
		<-p.done
		return exit{}, errors.New("it takes too long")
	}
}
