// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/flux-pulumi/pulumi-controller/internal/bounded"
	"github.com/flux-pulumi/pulumi-controller/internal/grammar"
	"github.com/flux-pulumi/pulumi-controller/internal/mask"
	"github.com/flux-pulumi/pulumi-controller/internal/pulumi/process"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/tests/fuzz"
)

// FuzzEventsHideSecrets puts a secret into every text of the engine and the program,
// amid arbitrary output. Nothing shown may contain it.
func FuzzEventsHideSecrets(f *testing.F) {
	f.Add("hunter2", []byte("\x03\x00\x02\x00\x01\x02\x03"))
	f.Add("a\nb", []byte("\x01\x01\x03\x04\x02\x02"))
	f.Add("\xff\xfeabcdef", []byte("\x01\x00\x01\x00"))
	f.Add("x", []byte("\x02\x02\x01\x00\x03\x01\x00"))
	f.Fuzz(func(t *testing.T, value string, data []byte) {
		secret := "Zq-" + strings.ReplaceAll(strings.TrimSpace(value), "*", "+") + "-7"
		in := fuzz.From(data)
		e := &events{mask: mask.New([]string{secret})}
		shown := showAll(e, fuzz.List(in, 12, func() string { return eventWith(in, secret) }))
		stderr := "error: " + textWith(in, secret)
		last := exit{code: fuzz.Pick(in, 1, 255, exitHasChanges, exitCancelled), stderr: printed{process.Printed{Text: stderr}}, stopped: in.Bool()}
		_, message := outcomeOf(ending{last: last, stderr: last.stderr.masked(e.mask), events: *e, checked: in.Bool()})
		message = bounded.Text(e.mask.Apply(message), maxMessage)
		shown = append(shown, message)
		for name, output := range showOutputs(e.outputs, e.mask, nil) {
			shown = append(shown, name)
			shown = append(shown, textsIn(t, output)...)
		}
		for _, text := range shown {
			// JSON has no invalid UTF-8: each such byte becomes a character.
			for _, leak := range []string{secret, string([]rune(secret))} {
				if strings.Contains(text, leak) {
					t.Errorf("%q is in %q", leak, text)
				}
			}
		}
		if len(message) > maxMessage {
			t.Errorf("a message of %d bytes", len(message))
		}
	})
}

// showAll reads the events and returns the lines logged for them.
func showAll(e *events, all []string) []string {
	var said []string
	s := &session{mask: e.mask, log: func(line string) { said = append(said, line) }}
	var l lines
	l.feed([]byte(strings.Join(all, "\n")+"\n"), func(line []byte) {
		if text := e.read(line); text != "" {
			s.say(text)
		}
	}, func() {})
	for _, d := range e.errors {
		said = append(said, d.text)
	}
	return said
}

// eventWith is an event with the secret in one of its texts.
func eventWith(in *fuzz.Input, secret string) string {
	text := textWith(in, secret)
	urn := "urn:pulumi:dev::demo::lab:index:Thing::" + fuzz.Pick(in, "a", text)
	quote := func(v any) string {
		raw, _ := json.Marshal(v)
		return string(raw)
	}
	switch in.Below(5) {
	case 0:
		return fmt.Sprintf(`{"diagnosticEvent":{"urn":%s,"severity":%q,"message":%s}}`,
			quote(urn), fuzz.Pick(in, "error", "info#err", "info", "warning"), quote(fuzz.Pick(in, "error: ", "  ", "")+text))
	case 1:
		return fmt.Sprintf(`{"policyEvent":{"resourceUrn":%s,"enforcementLevel":"mandatory","policyName":"p","message":%s}}`, quote(urn), quote(text))
	case 2:
		return fmt.Sprintf(`{"%s":{"metadata":{"op":%q,"urn":%s,"type":"lab:index:Thing"}}}`,
			fuzz.Pick(in, "resourcePreEvent", "resOutputsEvent", "resOpFailedEvent"), fuzz.Pick(in, "create", "update", "delete", "same"), quote(urn))
	case 3:
		outputs := map[string]any{fuzz.Pick(in, "a", text): fuzz.Pick[any](in, text, []any{text}, map[string]any{text: text})}
		return fmt.Sprintf(`{"resOutputsEvent":{"metadata":{"op":"same","urn":%s,"type":%q,"new":{"outputs":%s}}}}`, quote(urn), stackType, quote(outputs))
	}
	return fmt.Sprintf(`{"summaryEvent":{"resourceChanges":{"create":%d}}}`, in.Byte())
}

// textWith is the secret amid arbitrary text, with removable characters inside it.
func textWith(in *fuzz.Input, secret string) string {
	at := in.Below(256) % (len(secret) + 1)
	noise := fuzz.Pick(in, "", "\x1b[31m", "\r", "\x07", "\x1b[0m\x1b[1m")
	return in.Text() + secret[:at] + noise + secret[at:] + in.Text()
}

// textsIn are all texts in a JSON value, including field names.
func textsIn(t *testing.T, raw json.RawMessage) []string {
	var value any
	if err := json.Unmarshal(raw, &value); err != nil {
		t.Fatalf("an output is not JSON: %v: %s", err, raw)
	}
	var texts []string
	var walk func(any)
	walk = func(value any) {
		switch value := value.(type) {
		case string:
			texts = append(texts, value)
		case []any:
			for _, inner := range value {
				walk(inner)
			}
		case map[string]any:
			for name, inner := range value {
				texts = append(texts, name)
				walk(inner)
			}
		}
	}
	walk(value)
	return texts
}

// FuzzBackend: a reported backend has no user, password or query, and is empty if the
// whole URL is a secret.
func FuzzBackend(f *testing.F) {
	f.Add("s3", "key:Zq-secret-7", "bucket/prod", "region=x", byte(0))
	f.Add("postgres", "bob:Zq-secret-7", "db:5432/pulumi", "sslmode=none", byte(1))
	f.Add("file", "", "/state/Zq-secret-7", "", byte(2))
	f.Add("", "Zq-secret-7", "", "", byte(3))
	f.Fuzz(func(t *testing.T, scheme, user, place, query string, as byte) {
		const secret = "Zq-secret-7"
		backend := scheme + "://" + user + "@" + place + "?" + query
		whole := as&1 == 1
		if whole {
			backend = strings.ReplaceAll(backend, "Zq", "") + secret
		} else {
			// A name counts only if it is safe in a URL: otherwise only the scheme is
			// kept.
			backend = "s3://u" + strings.ReplaceAll(user, "/", "") + ":" + secret + "@bucket?k=" + secret
		}
		r := run.Run{Backend: backend, BackendKey: "uid"}
		if whole {
			r.Masks = []string{backend}
		}
		for _, reported := range []string{grammar.BackendOf(r), (&session{run: r, mask: maskerOf(r)}).mask.Apply("in " + backend)} {
			if whole && strings.Contains(reported, secret) {
				t.Errorf("%q is in %q", secret, reported)
			}
		}
		if reported := grammar.BackendOf(r); strings.Contains(reported, secret) {
			t.Errorf("%q reveals %q", reported, backend)
		}
	})
}
