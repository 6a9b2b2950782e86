// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

// The directory of a run has another name at each attempt.
func TestTheErrorOfAProgramIsTheSameAtEachAttempt(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	for name, test := range map[string]struct{ program, want, logged string }{
		"with paths of the program": {
			`{"fail": "cannot read $DIR/zones.json\n  as $DIR/lib/zones.lab:3 says\n\n  of file://$DIR/x"}`,
			"cannot read zones.json\n  as lib/zones.lab:3 says\n  of x", "/workspace/lib/zones.lab:3 says",
		},
		"with what it printed before its end": {
			`{"fail": "program exited with non-zero exit code: 3", "stderr": ["2026-01-02 03:04:05 no token in $DIR/token"]}`,
			"the program exited with code 3, after it printed: no token in token", "/workspace/token",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t).withLanguage().withStack()
			dir, r := l.written(test.program)
			result := l.doWritten(t.Context(), dir, r)
			l.Expect(result.Outcome).To(Equal(run.Failed))
			l.Expect(result.Message).To(Equal(test.want), "nothing in it is of this attempt")
			l.Expect(strings.Join(l.saidLines(), "\n")).To(And(ContainSubstring(string(dir)), ContainSubstring(test.logged)), "the log has all of it")
		})
	}
}
