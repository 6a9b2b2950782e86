// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/tests/fuzz"
)

// lostPod is the host of the interrupted run: another machine.
const lostPod = "controller-6f9c"

func interruptedOn(dir Directory, hosts ...string) *session {
	s := &session{dir: dir}
	for i, host := range hosts {
		s.run.Interrupted = append(s.run.Interrupted, run.Interrupted{ID: fmt.Sprintf("lost-%d", i), Host: host})
	}
	return s
}

// FuzzLockHolders feeds Pulumi's lock messages with arbitrary user names. Locks must
// count as left behind if and only if all of them belong to the interrupted run.
func FuzzLockHolders(f *testing.F) {
	f.Add([]byte("\x01\x00\x03bob"))
	f.Add([]byte("\x01\x01\x03bob\x05other"))
	f.Add([]byte("\x01\x01\x2dx@controller-6f9c (pid 7) at 2026-01-01T00:00:00Z\x05other"))
	f.Add([]byte("\x01\x01\x2fbob@controller-6f9c (pid 7) at 2026-01-01T00:00:00Z\n\x05other"))
	f.Fuzz(func(t *testing.T, data []byte) {
		in := fuzz.From(data)
		foreign, plain := false, true
		count := 1 + in.Below(4)
		message := fmt.Sprintf("error: the stack is currently locked by %d lock(s). Either wait for the other process(es) to end "+
			"or delete the lock file with `pulumi cancel`.\n", count)
		for i := range count {
			theirs, user, host := in.Bool(), in.Text(), lostPod
			if theirs {
				host, foreign = hostName(in.Text()), true
			}
			plain = plain && !strings.ContainsAny(user, "\n(:")
			message += fmt.Sprintf("  file:///be/.pulumi/locks/organization/demo/dev/%d.json: created by %s@%s (pid %d) at %s\n",
				i, user, host, in.Byte(), time.Unix(in.Int64()%(1<<33), 0).UTC().Format(time.RFC3339))
		}
		s := interruptedOn(Directory(filepath.Join(os.TempDir(), "none", "new")), lostPod)
		switch left := s.lockIsLeft(message); {
		case left && foreign:
			t.Errorf("a foreign lock is taken for left behind:\n%s", message)
		case !left && !foreign && plain:
			t.Errorf("a lock that is left is not known:\n%s", message)
		}
	})
}

// hostName makes a host name that is never lostPod.
func hostName(text string) string {
	name := strings.Map(func(r rune) rune {
		if r == '-' || r == '.' || 'a' <= r && r <= 'z' || '0' <= r && r <= '9' {
			return r
		}
		return -1
	}, text)
	if name == lostPod {
		return "other"
	}
	return name
}

// FuzzReadLock: a lock file counts as ours only if it says so, as Pulumi itself reads
// it.
func FuzzReadLock(f *testing.F) {
	here, err := os.Hostname()
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(`{"pid":7,"username":"bob","hostname":"` + lostPod + `","timestamp":"2026-01-01T00:00:00Z"}`))
	f.Add([]byte(`{"pid":7,"username":"bob","hostname":"` + here + `","timestamp":"2026-01-01T00:00:00Z"}`))
	f.Add([]byte(`{"pid":"7","hostname":"` + lostPod + `"}`))
	f.Add([]byte(`{"hostname":"` + lostPod + `"}x`))
	f.Add([]byte(`null`))
	f.Add([]byte{})
	dir := Directory(filepath.Join(f.TempDir(), "new"))
	s := interruptedOn(dir, lostPod, here)
	for _, lost := range s.run.Interrupted {
		if err := dir.of(lost.ID).Make(); err != nil {
			f.Fatal(err)
		}
	}
	path := filepath.Join(f.TempDir(), "lock.json")
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		var content struct {
			PID      int    `json:"pid"`
			Hostname string `json:"hostname"`
		}
		theirs := json.Unmarshal(text, &content) != nil || content.Hostname != lostPod
		if s.isOurs(readLock(path)) && theirs {
			t.Errorf("%q is taken for ours", text)
		}
	})
}
