// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// maxPlain bounds what the CLI may print for the wanted outputs of a stack, in bytes. A
// Secret holds 1 MiB, but JSON may escape each character.
const maxPlain = 8 << 20

// takeOutputs reads the wanted outputs in plain text after a successful update. The
// events of the update do not have them unchanged: Pulumi masks every text that equals
// a secret. If the reading fails, the update still succeeded, and the caller asks
// again.
func (s *session) takeOutputs(ctx context.Context) {
	if s.run.Outputs == nil {
		return
	}
	last, err := s.readOutputs(ctx)
	if err == nil && last.code != 0 {
		err = errors.New(failureMessage(nil, last.stderr.Text, last.code))
	}
	if err != nil {
		// This process has had all secret outputs in plain text.
		s.deferred.add(rawLine{lead: "the outputs cannot be read: ", text: newRawText(err.Error())}, true)
	}
}

// pick selects the wanted outputs.
func pick(all map[string]json.RawMessage, wanted run.WantedOutputs) (*run.PlainOutputs, error) {
	plain := &run.PlainOutputs{Wanted: wanted, Values: make(map[string]json.RawMessage)}
	for name, value := range knownOutputs(all) {
		if !wanted.Wants(name) {
			continue
		}
		readable, err := plainOutput(value)
		if err != nil {
			return nil, err
		}
		plain.Values[name] = readable
	}
	return plain, nil
}

// readOutputs has the CLI print the outputs, with secrets in plain text. They go
// through a pipe and never reach a file, even if this process is killed. The events of
// a preceding update are kept.
func (s *session) readOutputs(ctx context.Context) (exit, error) {
	if s.run.Outputs == nil {
		return exit{}, errors.New("a run that reads outputs has to say which")
	}
	// What is not wanted may be of any size.
	printed := newReducer(reduction{at: 1, property: 2 * maxPlain, properties: 2 * maxPlain, total: maxPlain, wanted: s.run.Outputs.Wants})
	last, err := s.driver.execute(ctx, command{
		args: []string{"--non-interactive", "--color=never", "stack", "output", "--json", "--show-secrets", "--stack", s.stack},
		dir:  s.program, env: s.env, pids: s.dir.pids(),
		stdout: s.dir.stdout(), stderr: s.dir.stderr(), capture: printed, sandbox: s.runRules(),
		// There is no such file: this call writes no events.
		events: &follower{path: s.dir.events() + ".none", events: &events{mask: s.mask}, say: s.say},
	})
	if err != nil || last.code != 0 {
		return last, err
	}
	if printed.over {
		return last, fmt.Errorf("the wanted outputs of the stack are together longer than %d bytes", maxPlain)
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(printed.out, &all); err != nil {
		// Leave out the parser's error, which may quote the text.
		return last, errors.New("the outputs that Pulumi has printed are not a JSON object")
	}
	s.plain, err = pick(all, *s.run.Outputs)
	return last, err
}

// capture keeps what is written to it, up to a limit. It discards the rest, because the
// writer must neither fail nor wait.
type capture struct {
	limit int
	text  bytes.Buffer
	over  bool
}

func (c *capture) Write(p []byte) (int, error) {
	if c.over = c.over || c.text.Len()+len(p) > c.limit; !c.over {
		c.text.Write(p)
	}
	return len(p), nil
}
