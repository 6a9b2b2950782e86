// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"time"

	"github.com/flux-pulumi/pulumi-controller/internal/crash"
	"github.com/flux-pulumi/pulumi-controller/internal/mask"
	"github.com/flux-pulumi/pulumi-controller/internal/pulumi/process"
	"github.com/flux-pulumi/pulumi-controller/internal/sandbox"
)

// command is one CLI call, or one of a language tool.
type command struct {
	// tool is the path of the language tool, empty for the CLI.
	tool  string
	args  []string
	dir   string
	env   []string
	stdin string
	// pids is the file to which the process appends its PID, as one that may hold a lock.
	pids string
	// stdout and stderr are the paths of the output files, empty for memory.
	stdout, stderr string
	// capture, if set, receives stdout instead of the file. It is for a CLI that only
	// reads, because such a CLI may die with this process.
	capture io.Writer
	// atOnce marks a call with nothing to finish when it is asked to stop.
	atOnce bool
	// abort is closed when a stopping process must not wait for operations in flight.
	abort <-chan struct{}
	// sandbox are the rules for the files of the run, with a sandbox.
	sandbox []sandbox.Rule
	// events follows the event log. It is set even for a call that writes none.
	events *follower
}

// exit is how a CLI call ended.
type exit struct {
	// tool is the language tool that was called, empty for the CLI.
	tool string
	// code is the exit code, or -1 if a signal ended the process.
	code int
	// signal is the signal that ended the process, if any.
	signal string
	// stdout and stderr are bounded.
	stdout, stderr printed
	// stopped is set if the process was asked to stop.
	stopped bool
}

// byForce reports whether the process may have left its lock or operations in flight
// behind. It does not when it ends by itself or after a single signal.
func (e exit) byForce() bool {
	return e.signal != "" || e.code == exitCancelled
}

// execute calls the CLI and waits for it to end. When ctx is done, it stops the CLI
// gently. The error says why the CLI could not be started.
func (d *Driver) execute(ctx context.Context, c command) (exit, error) {
	if ctx.Err() != nil {
		return exit{}, context.Cause(ctx)
	}
	p, err := d.start(c)
	if err != nil {
		return exit{}, workspaceError{fmt.Errorf("starting %s: %w", cmp.Or(c.tool, "Pulumi"), err)}
	}
	defer p.Close()
	watcher := crash.Go(func() { watch(p, c.events) })
	stopped := false
	select {
	case <-p.Done():
	case <-ctx.Done():
		stopped = d.stop(p, c)
	case <-watcher.Done(): // before the CLI only if it has panicked, and nobody watches the CLI any more
		stopped = d.stop(p, c)
	}
	watcher.Wait()
	ended := exitOf(p, stopped)
	if c.tool != "" {
		ended.tool = filepath.Base(c.tool)
	}
	if ended.code == process.ExitNotNoted {
		return exit{}, workspaceError{fmt.Errorf("recording the process ID: %s", tidy(ended.stderr.Text))}
	}
	if path := notExecuted(ended); path != "" {
		return exit{}, workspaceError{fmt.Errorf("starting Pulumi: %s: permission denied", path)}
	}
	return ended, nil
}

// notExecuted returns the path of the CLI if the shell that starts it, or a script in its place, may not execute it: it may be
// a link to what the sandbox keeps from programs. It is "" for a CLI that has started.
func notExecuted(e exit) string {
	if e.tool != "" || e.code != exitNotExecuted {
		return ""
	}
	m := regexp.MustCompile(`(?i)(/[^:\n]*): (?:cannot execute: )?permission denied\s*$`).FindStringSubmatch(e.stderr.Text)
	if m == nil {
		return ""
	}
	return m[1]
}

// readOnly makes a CLI call that changes and locks nothing and can be killed.
func (d *Driver) readOnly(ctx context.Context, c command) (exit, error) {
	p, err := d.start(c)
	if err != nil {
		return exit{}, fmt.Errorf("starting Pulumi: %w", err)
	}
	defer p.Close()
	select {
	case <-p.Done():
		return exitOf(p, false), nil
	case <-ctx.Done():
		p.Kill()
		return exit{}, errors.New("it took too long")
	}
}

func (d *Driver) start(c command) (*process.Child, error) {
	return process.Start(process.Command{
		Path: cmp.Or(c.tool, filepath.Join(d.Bin, "pulumi")),
		Args: c.args, Dir: c.dir, Env: c.env, Stdin: c.stdin, PIDs: c.pids,
		Stdout: c.stdout, Stderr: c.stderr, Capture: c.capture,
		Restrict: d.Sandbox.Restrict(c.sandbox),
		Warn:     func(err error) { c.events.say(err.Error()) },
	})
}

// watch reads events and keeps the files small while the CLI runs.
func watch(p *process.Child, events *follower) {
	defer events.close()
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	for {
		select {
		case <-p.Done():
			events.poll()
			return
		case <-ticker.C:
			events.poll()
			p.Shrink()
			ticker.Reset(events.interval())
		}
	}
}

func exitOf(p *process.Child, stopped bool) exit {
	ended := p.Exit()
	return exit{
		code: ended.Code, signal: ended.Signal, stopped: stopped,
		stdout: printed{ended.Stdout}, stderr: printed{ended.Stderr},
	}
}

// printed is the output of the CLI on a stream, or its two ends.
type printed struct{ process.Printed }

// masked is the text without its secrets. Each end is masked alone, as a multi-line
// secret may be split between them. It is masked again after tidy, because colours
// within a secret hide it from the mask.
func (p printed) masked(m *mask.Masker) string {
	if p.Gap.To == 0 {
		return m.Apply(p.Text)
	}
	head := m.ApplyCut(tidy(m.ApplyCut(p.Text[:p.Gap.From])))
	tail := m.ApplyRest(tidy(m.ApplyRest(p.Text[p.Gap.To:])))
	return head + "\n" + p.Text[p.Gap.From:p.Gap.To] + tail
}
