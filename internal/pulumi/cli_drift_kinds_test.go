// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/tests/cloud"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

// What a stack manages, and no update would undo, is no drift.
func TestChecksForDriftOfWhatCannotDrift(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	l := newLab(t).withProvider().withStack()
	l.Expect(shown(l.checked(l.driftCheck()))).To(BeEmpty(), "an empty stack")

	writeTree(t, l.cloud, map[string]string{"things/others-00000001.json": `{"name":"others","value":"x"}`})
	r := l.update(l.program(`
  read: {type: lab:Thing, get: {id: others-00000001}}
  a: {type: lab:Thing, properties: {name: a, value: "${read.value}"}}
`, "  o: x\n"))
	l.Expect(l.do(t.Context(), r).Outcome).To(Equal(run.Succeeded))
	l.drift("others", "y")
	l.Expect(shown(l.checked(l.driftCheck()))).To(BeEmpty(), "what the program only reads")
	l.interrupt("a")
	l.Expect(shown(l.checked(l.driftCheck()))).To(BeEmpty(), "what another user's update has left in flight")
	writeTree(t, l.backend, map[string]string{
		".pulumi/locks/organization/demo/dev/0.json": `{"pid":7,"username":"bob","hostname":"elsewhere","timestamp":"2026-01-02T03:04:05Z"}`,
	})
	l.drift("a", "y")
	l.Expect(shown(l.checked(l.driftCheck()))).To(ContainSubstring("Thing a (update)"), "a check needs no lock")

	l.Expect(os.RemoveAll(filepath.Join(l.backend, ".pulumi", "stacks"))).To(Succeed())
	writeTree(t, l.backend, map[string]string{".pulumi/locks/organization/demo/dev/0.json": "damaged"})
	result := l.do(t.Context(), l.driftCheck())
	l.Expect(result.Outcome).To(Equal(run.Failed), "a check needs no lock")
	l.Expect(result.Message).To(ContainSubstring("has been updated before, and is no longer in the backend"))
}

// Pulumi takes any text for the key of a map, and most for the name of a resource.
func TestDriftOfUnusualNames(t *testing.T) {
	t.Parallel()
	l := newLab(t).withProvider()
	l.given(l.program(`
  "co::lon": {type: lab:Thing, properties: {name: a, value: x, tags: {"": one, "80": one, 'q"uo[0]': one}}}
`, "  o: x\n"))
	l.edit("a", func(thing *cloud.Thing) {
		for key := range thing.Tags {
			thing.Tags[key] = "two"
		}
	})
	const (
		resource = " ~ lab:index:Thing co::lon (update)\n"
		empty    = `     ~ tags[""]: "one" => "two"` + "\n"
		number   = `     ~ tags.80: "one" => "two"` + "\n"
		quoted   = `     ~ tags["q\"uo[0]"]: "one" => "two"` + "\n"
	)
	l.Expect(shown(l.checked(l.driftCheck()))).To(Equal(resource + number + empty + quoted))
	l.Expect(l.saidLines()).To(ConsistOf("lab:index:Thing (co::lon): was changed outside of Pulumi"))
	for path, want := range map[string]string{
		`tags[""]`: resource + number + quoted, `tags["80"]`: resource + empty + quoted,
		`tags["q\"uo[0]"]`: resource + number + empty, "tags[80]": resource + number + empty + quoted, "tags[*]": "",
	} {
		found := l.checked(l.driftCheck(v1.IgnoredDrift{URN: "*::co::lon", Paths: []string{path}}))
		l.Expect(shown(found)).To(Equal(want), path)
	}
}

// A dynamic provider is a part of the program, without which it does not start.
func TestACheckForDriftBringsTheProgramOfADynamicProvider(t *testing.T) {
	t.Parallel()
	l := withDynamic(t, `{"things": ["a"], "dynamic": ["d"]}`)
	l.drift("a", "drifted")
	dir, r := l.fromState(run.CheckDrift, dynamicProgram)
	result := l.doWritten(t.Context(), dir, r)
	l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
	l.Expect(shown(result.Drift)).To(ContainSubstring("Thing a (update)"))
	l.Expect(l.newCalls()).To(Equal([]string{"refresh", "install", "refresh"}))
	l.Expect(l.saidLines()).NotTo(ContainElement(ContainSubstring("error")))

	dir, r = l.fromState(run.CheckDrift, dynamicProgram)
	r.Fetch, r.Program = nil, run.Program{Unavailable: "the source is gone"}
	result = l.doWritten(t.Context(), dir, r)
	l.Expect(result.Outcome).To(Equal(run.Failed))
	l.Expect(result.Message).To(ContainSubstring("which needs the program and its dependencies, but the source is gone: restore the source"))

	dir, r = l.fromState(run.CheckDrift, dynamicProgram)
	gone := &run.OutcomeError{Outcome: run.ArtifactGone, Err: errors.New("the artifact is gone")}
	r.Fetch = func(context.Context) error { return gone }
	l.Expect(l.doWritten(t.Context(), dir, r).Outcome).To(Equal(run.ArtifactGone))
}

// The settings of a provider may only be valid as the program has them, such as a credential.
func TestACheckForDriftCanRunTheProgram(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	l := newLab(t).withProvider()
	r, things := l.expired()
	r.Operation, r.Exists = run.CheckDrift, true
	l.Expect(l.do(t.Context(), r).Outcome).To(Equal(run.Failed))
	l.cloud += "-moved"
	r.Options.RunProgram = true
	l.Expect(shown(l.checked(r))).To(BeEmpty(), "a provider with other settings is no drift")
	l.drift("a", "drifted")
	l.Expect(shown(l.checked(r))).To(ContainSubstring(`~ value: "x" => "drifted"`))
	l.Expect(things.Remove(l.idOf("a"))).To(Succeed())
	l.Expect(shown(l.checked(r))).To(ContainSubstring("Thing a (delete)"))
}

func TestACheckForDriftThatIsCancelled(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	l := newLab(t).withProvider()
	l.given(l.thing("hold: read"))
	before := l.backendFiles()
	ctx, cancel := context.WithCancelCause(t.Context())
	results := l.start(ctx, l.driftCheck())
	l.Eventually(func() ([]cloud.Entry, error) { return cloud.Open(l.cloud).Journal() }).Should(ContainElement(HaveField("Op", cloud.Read)))
	cancel(run.ErrCancelled)
	l.Eventually(cloud.Open(l.cloud).ToldToStop).Should(BeTrue())
	l.release()
	var result run.Result
	l.Eventually(results).Should(Receive(&result))
	l.Expect(result.Outcome).To(Equal(run.Cancelled), result.Message)
	l.Expect(result.Drift).To(BeNil())
	l.Expect(result.Interrupted).To(BeFalse())
	l.Expect(l.backendFiles()).To(Equal(before))
}

// A correction is an update that refreshes, of what has drifted. Pulumi takes what masks a secret in
// a URN for any text.
func TestACorrectionLeavesOtherDriftAlone(t *testing.T) {
	t.Parallel()
	l := newLab(t).withProvider()
	program := l.program(`
  a: {type: lab:Thing, properties: {name: a, value: x}}
  b: {type: lab:Thing, properties: {name: b, value: "${a.id}"}}
  c: {type: lab:Thing, properties: {name: c, value: x}}
  hushed: {type: lab:Thing, properties: {name: d, value: x}}
  e: {type: lab:Thing, properties: {name: e, value: "${hushed.value}"}}
`, "  o: ${a.id}\n")
	l.given(program)
	l.drift("c", "ignored")
	l.drift("d", "drifted")
	l.drift("e", "ignored too")
	ignored := ` ~ lab:index:Thing c (update)
     ~ value: "x" => "ignored"
 ~ lab:index:Thing e (update)
     ~ value: "x" => "ignored too"
`
	correct := func(options run.Options) {
		r := l.update(program)
		r.Options = options
		r.Options.Refresh = true
		result := l.do(t.Context(), r)
		l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
		l.Expect(shown(l.checked(l.driftCheck()))).To(Equal(ignored), "it is neither undone nor in the state")
	}
	correct(run.Options{Targets: []string{urnOf("***ed")}})
	l.Expect(l.valueOf("d")).To(Equal("x"))

	l.Expect(cloud.Open(l.cloud).Remove(l.idOf("a"))).To(Succeed())
	found := l.checked(l.driftCheck(v1.IgnoredDrift{Type: "*", Paths: []string{"value"}}))
	l.Expect(shown(found)).To(Equal(" - lab:index:Thing a (delete)\n"))
	l.Expect(found.Recreates()).To(BeTrue())
	correct(run.Options{Targets: []string{urnOf("a")}, TargetDependents: true})
	l.Expect(l.valueOf("b")).To(Equal(l.idOf("a")), "what depends on a resource follows when it is created again")
}
