// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/mask"
	"github.com/flux-pulumi/pulumi-controller/internal/pulumi/process"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// A secret may be any word, including one by which a failure is recognized.
func TestASecretHidesNoSignOfAFailure(t *testing.T) {
	for _, secret := range []string{"error", "server", "Unavailable", "context canceled", "code"} {
		g := NewWithT(t)
		for _, message := range []string{
			"error: rpc error: code = Unavailable desc = closing transport",
			"error: error reading from server: EOF",
			"error: rpc error: code = Canceled desc = context canceled",
		} {
			e := &events{mask: mask.New([]string{secret})}
			readAll(e, diagLine("error", thingURN, message), stepLine("resOpFailedEvent", "create", thingURN, "{}"))
			g.Expect(e.unknownCreates(true)).To(Equal([]string{thingURN}), "%q with %q", message, secret)
			g.Expect(e.errors).To(HaveLen(1))
			g.Expect(e.errors[0].text).NotTo(ContainSubstring(secret))
		}
	}
}

func TestASecretHidesNoOutcome(t *testing.T) {
	for name, test := range map[string]struct {
		secret, stderr string
		want           run.Outcome
	}{
		"a lock":                    {"stack", lockText, run.Locked},
		"a lock, with all of it":    {"locked", lockText, run.Locked},
		"a lock that is an error":   {"error", lockText, run.Locked},
		"a backend that is away":    {"refused", "error: dial tcp: connection refused", run.BackendUnavailable},
		"what says nothing of that": {"refused", "error: boom refused", run.Failed},
	} {
		g := NewWithT(t)
		m := mask.New([]string{test.secret})
		outcome, message := outcomeOf(ending{last: exit{code: 255, stderr: printed{process.Printed{Text: test.stderr}}}, stderr: m.Apply(test.stderr)})
		g.Expect(outcome).To(Equal(test.want), name)
		g.Expect(message).NotTo(ContainSubstring(test.secret), name)
	}
	e := &events{mask: mask.New([]string{"random"})}
	readAll(e, diagLine("error", "", "error: could not find latest version for provider random: connection refused"))
	outcome, message := outcomeOf(ending{last: exit{code: 255}, events: *e})
	g := NewWithT(t)
	g.Expect(outcome).To(Equal(run.RegistryUnavailable))
	g.Expect(message).NotTo(ContainSubstring("random"))

	e = &events{mask: mask.New([]string{"provider"})}
	readAll(e, diagLine("error", "", "error: could not find latest version for provider random: connection refused"))
	outcome, message = outcomeOf(ending{last: exit{code: 255}, events: *e})
	g.Expect(outcome).To(Equal(run.RegistryUnavailable))
	g.Expect(message).To(HavePrefix("could not find latest version for *** random"))
}
