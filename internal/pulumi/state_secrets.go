// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/flux-pulumi/pulumi-controller/internal/crash"
	"github.com/flux-pulumi/pulumi-controller/internal/plural"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

const (
	// readPatience is how long reading the secrets may take; stopPatience, once the run
	// is to stop.
	readPatience = time.Minute
	stopPatience = 5 * time.Second
	// maxHeld and maxHeldBytes bound the lines that wait for the secrets.
	maxHeld      = 1000
	maxHeldBytes = 1 << 20
)

// deferredLines holds back log lines until the secrets of the state are known.
type deferredLines struct {
	lines []rawLine
	bytes int
	// left counts the lines dropped.
	left int
	// warned is set if there is an error or a warning among the lines: programs write
	// to standard error for any reason.
	warned bool
}

func (h *deferredLines) add(l rawLine, warns bool) {
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
// itself made secret. It reads the state only if there is something to show. What may
// contain secrets that could not be read is not shown.
func (s *session) disclose(ctx context.Context, last exit) {
	failed := last.code != 0 && last.code != exitHasChanges && s.events.began
	s.known = !failed && s.isWithoutSecrets(last)
	if s.prepared != nil && s.stackFound && (failed || s.deferred.warned || s.showsValues()) && !s.known {
		s.learnAfter(ctx)
		s.known = s.unread == nil
		if s.unread != nil {
			s.withhold()
			return
		}
	}
	s.events.remask()
	for _, line := range s.deferred.lines {
		s.say(line.masked(s.mask))
	}
	if s.deferred.left > 0 {
		s.say(plural.Of(s.deferred.left, "more line", "more lines") + " of diagnostics omitted")
	}
	s.deferred = deferredLines{}
}

// showsValues reports whether all values of the plan, or of what an approved run has done, are to be
// shown: a program may put a secret into any text. Other updates take no process for that, and show
// what they have done without the values that may be secret.
func (s *session) showsValues() bool {
	planned := s.events.planned
	return planned != nil && planned.kept > 0 && (!planned.done || s.run.Approved != "")
}

// isWithoutSecrets reports whether the state is known to have no secret without a process
// that reads it, which takes 0.3 s. The events of an update or a preview of the whole stack
// have each resource of its state, before and after. Those of one with targets may lack others.
func (s *session) isWithoutSecrets(last exit) bool {
	if !applies(s.run) || last.code != 0 || s.events.summary == nil || s.events.missed || s.events.secrets {
		return false
	}
	if len(s.run.Options.Targets) == 0 {
		return true
	}
	known := s.knownContents()
	return known != nil && !known.hasSecrets
}

// withhold shows nothing of what the engine and the program have said, except why the state
// could not be saved: it is often why it cannot be read either.
func (s *session) withhold() {
	notShown := func(what, who string) string {
		return fmt.Sprintf("%s not shown, because %s may contain secrets of the state, which could not be read: %v", what, who, s.unread)
	}
	for n := range s.events.errors {
		failed := &s.events.errors[n]
		failed.text = notShown("the error is", "it")
		if unsaved := unsavedText(failed.sign()); unsaved != "" {
			failed.text = s.mask.Apply(unsaved)
		}
	}
	if count := len(s.deferred.lines) + s.deferred.left; count > 0 {
		s.say(notShown("the diagnostics ("+plural.Of(count, "line", "lines")+") are", "they"))
	}
	s.deferred, s.withheld = deferredLines{}, "error: "+notShown("the output of Pulumi is", "it")
}

// learnBefore has the masks know the secrets of the state before a call of the engine that
// deletes resources: it may warn of them, and then the state does not have their secrets any
// more. known is what is known of the state, nil if nothing is: a state without secrets
// costs no process.
func (s *session) learnBefore(ctx context.Context, known *contents) contents {
	if known != nil && !known.hasSecrets {
		s.learned = true
		return *known
	}
	if ctx.Err() != nil {
		return contents{} // the engine is not started any more
	}
	read, err := s.plainState(ctx)
	if errors.Is(err, errNoStack) {
		err = nil // the engine finds nothing to delete either
	}
	s.mask.AddSecrets(read.secrets.Values())
	s.unread, s.learned = err, err == nil
	return read
}

// learnAfter has the masks know the secrets of the state after the run, unless those were
// all known before.
func (s *session) learnAfter(ctx context.Context) {
	options := s.run.Options
	if s.learned && !run.KindOf(s.run.Operation).ChangesState {
		return
	}
	if s.learned && s.run.Operation == run.Destroy && (s.removed || !options.Refresh && !options.RunProgram) {
		return
	}
	read, err := s.plainState(ctx)
	if err != nil && !(s.learned && errors.Is(err, errNoStack)) {
		s.unread = err
	}
	s.mask.AddSecrets(read.secrets.Values())
}

// errNoStack is why there is no state to read.
var errNoStack = errors.New("the stack is not in the backend any more")

// plainState has the CLI print the state with plaintext secrets. They go through a pipe and
// never reach a file, even if this process is killed. A run that is to stop waits only
// briefly.
func (s *session) plainState(ctx context.Context) (contents, error) {
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), readPatience)
	defer cancel()
	// The request to stop may have come before, or may come meanwhile.
	defer context.AfterFunc(ctx, func() { time.AfterFunc(stopPatience, cancel) })()

	from, to := io.Pipe()
	var read contents
	var readErr error
	reader := crash.Go(func() {
		defer func() { _ = from.Close() }() // or the CLI would wait for ever for a reader that has panicked
		read, readErr = readContents(from)
		_, _ = io.Copy(io.Discard, from) // the CLI must not fail before it has printed everything
	})
	last, err := s.driver.readOnly(bounded, command{
		args: []string{"--non-interactive", "--color=never", "stack", "export", "--show-secrets", "--stack", s.stack},
		dir:  s.program, env: s.env, pids: s.dir.pids(),
		stdout: s.dir.stdout(), stderr: s.dir.stderr(), capture: to, sandbox: s.runRules(),
		events: &follower{say: s.say},
	})
	_ = to.Close() // never fails
	reader.Wait()
	switch {
	case err != nil:
		return contents{}, err
	case last.code == exitStackNotFound:
		return contents{}, errNoStack
	case last.code != 0:
		return contents{}, errors.New(failureMessage(nil, last.stderr.masked(s.mask), last.code))
	}
	return read, readErr
}
