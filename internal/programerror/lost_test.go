// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package programerror

import (
	"testing"

	. "github.com/onsi/gomega"
)

func TestAPluginThatEndedIsRecognized(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]struct {
		doing  string
		isLost bool
	}{
		"error reading from server: EOF":                                                                   {"", true},
		"rpc error: code = Unavailable desc = error reading from server: EOF\n":                            {"", true},
		"error reading from server: read tcp 127.0.0.1:4->127.0.0.1:5: read: connection reset by peer":     {"", true},
		"discovering packages: error reading from server: connection reset by peer":                        {"discovering packages: ", true},
		"rpc error: code = Unavailable desc = transport is closing":                                        {"", true},
		"discovering packages: rpc error: code = Unavailable desc = error reading from server: EOF":        {"discovering packages: ", true},
		"rpc error: code = Unavailable desc = the API is overloaded":                                       {"", false},
		"error reading from server: EOF, as the manual of a provider says":                                 {"", false},
		"rpc error: code = Unavailable desc = connection error: desc = \"transport: Error while dialing\"": {"", false},
	} {
		doing, isLost := CutLost(text)
		NewWithT(t).Expect([]any{doing, isLost}).To(Equal([]any{want.doing, want.isLost}), text)
	}
}

func TestTheMessageAboutAPluginThatEnded(t *testing.T) {
	t.Parallel()
	const host = "the language host pulumi-language-yaml"
	for name, test := range map[string]struct {
		memory        Memory
		printed, want string
	}{
		"killed for its memory": {
			Memory{Limit: 512 << 20, Killed: true}, "panic: noise",
			"out of memory: " + host + " was killed (OOMKilled): raise the memory limit of the container that runs Pulumi, which is 512Mi",
		},
		"crashed": {
			Memory{Limit: 512 << 20}, "reading\npanic: boom\n\ngoroutine 1 [running]:",
			host + " ended unexpectedly, after this was printed: panic: boom\ngoroutine [running]:",
		},
		"in silence": {
			Memory{Limit: 2 << 30}, "reading",
			host + " ended unexpectedly and did not say why: if it was out of memory, raise the memory limit of the container that runs Pulumi, which is 2Gi",
		},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(Program{Runtime: "yaml", Memory: test.memory}.Lost(host, test.printed)).To(Equal(test.want))
		})
	}
}
