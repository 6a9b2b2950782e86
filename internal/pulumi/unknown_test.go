// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/mask"
)

const providerGoneText = "error: rpc error: code = Unavailable desc = error reading from server: EOF"

// failedWith is the event of a failed operation with the status reported by the
// provider.
func failedWith(op, status string) string {
	return strings.Replace(stepLine("resOpFailedEvent", op, thingURN, "{}"), `{"resOpFailedEvent":{`, `{"resOpFailedEvent":{"status":`+status+`,`, 1)
}

func TestCreationsOfUnknownOutcome(t *testing.T) {
	for name, test := range map[string]struct {
		lines         []string
		want, stopped bool
	}{
		"whose provider went away": {
			[]string{diagLine("error", thingURN, providerGoneText), failedWith("create", "2")}, true, true},
		"of a replacement": {
			[]string{diagLine("error", thingURN, providerGoneText), failedWith("create-replacement", "2")}, true, true},
		"not before it has failed":        {[]string{diagLine("error", thingURN, providerGoneText)}, false, false},
		"not without the word of it":      {[]string{diagLine("error", thingURN, "error: boom"), failedWith("create", "2")}, false, false},
		"not for a call never sent":       {[]string{diagLine("error", thingURN, "transport: Error while dialing"), failedWith("create", "0")}, false, false},
		"not for an update":               {[]string{diagLine("error", thingURN, providerGoneText), failedWith("update", "2")}, false, false},
		"not for what is in the state":    {[]string{diagLine("error", thingURN, providerGoneText), failedWith("create", "1")}, false, false},
		"given up, when it was to be":     {[]string{diagLine("error", thingURN, "error: context canceled"), failedWith("create", "0")}, false, true},
		"not for another's lost provider": {[]string{diagLine("error", thingURN+"2", providerGoneText), failedWith("create", "2")}, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			e := &events{mask: mask.New(nil)}
			readAll(e, test.lines...)
			g.Expect(len(e.unknownCreates(false)) > 0).To(Equal(test.want))
			g.Expect(len(e.unknownCreates(true)) > 0).To(Equal(test.stopped), "in a run that was asked to stop")
		})
	}
}

// newFollower follows a file that add appends to, and collects what it reports.
func newFollower(t *testing.T) (f *follower, add func(lines ...string), reported *[][]string) {
	path := filepath.Join(t.TempDir(), "events")
	reported = &[][]string{}
	f = &follower{path: path, events: &events{mask: mask.New(nil)}, say: func(string) {}}
	f.onUnknownCreates = func(urns []string) { *reported = append(*reported, urns) }
	t.Cleanup(f.close)
	return f, func(lines ...string) {
		file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err == nil {
			_, err = file.WriteString(strings.Join(lines, "\n") + "\n")
		}
		if err != nil {
			t.Fatal(err)
		}
		_ = file.Close() // the writes are already in the file
	}, reported
}

func TestAnUnknownCreationIsReportedOnce(t *testing.T) {
	g := NewWithT(t)
	f, add, reported := newFollower(t)
	f.poll()
	add(stepLine("resourcePreEvent", "create", thingURN, "{}"), diagLine("error", thingURN, providerGoneText))
	f.poll()
	g.Expect(*reported).To(BeEmpty(), "it has not failed yet")
	add(failedWith("create", "2"))
	f.poll()
	f.poll()
	g.Expect(*reported).To(Equal([][]string{{thingURN}}))
	other := "urn:pulumi:dev::demo::lab:index:Thing::0"
	add(diagLine("error", other, providerGoneText), strings.Replace(failedWith("create", "2"), thingURN, other, 1))
	f.poll()
	g.Expect(*reported).To(Equal([][]string{{thingURN}, {other, thingURN}}), "all of them, sorted")
}

func TestAnAbandonedCreationIsReportedIfTheRunWasToStop(t *testing.T) {
	g := NewWithT(t)
	f, add, reported := newFollower(t)
	add(diagLine("error", thingURN, "error: context canceled"), failedWith("create", "0"))
	f.poll()
	g.Expect(*reported).To(BeEmpty(), "that is an error as any other")
	f.stopped.Store(true)
	f.poll()
	g.Expect(*reported).To(HaveLen(1))
}
