// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/tests/cloud"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

// valueOf reads the value of a thing, "" if there is no such thing.
func (l *lab) valueOf(name string) string {
	l.Helper()
	things, err := cloud.Open(l.cloud).Things()
	l.Expect(err).NotTo(HaveOccurred())
	for _, thing := range things {
		if thing.Name == name && thing.Value != nil {
			return *thing.Value
		}
	}
	return ""
}

// drift changes the value of a thing behind Pulumi's back.
func (l *lab) drift(name, value string) {
	l.Helper()
	found := false
	things, err := cloud.Open(l.cloud).Things()
	l.Expect(err).NotTo(HaveOccurred())
	for _, thing := range things {
		if thing.Name == name {
			found = true
			l.Expect(cloud.Open(l.cloud).Edit(thing.ID, func(t *cloud.Thing) { t.Value = &value })).To(Succeed())
		}
	}
	l.Expect(found).To(BeTrue(), "thing %s", name)
}

// backendFiles maps all files of the backend to their times.
func (l *lab) backendFiles() map[string]string {
	l.Helper()
	files := map[string]string{}
	l.Expect(filepath.Walk(l.backend, func(path string, info os.FileInfo, err error) error {
		if err == nil && !info.IsDir() {
			files[path] = info.ModTime().String()
		}
		return err
	})).To(Succeed())
	return files
}

func urnOf(name string) string { return "urn:pulumi:dev::demo::lab:index:Thing::" + name }

func TestARefreshUndoesDrift(t *testing.T) {
	t.Parallel()
	l := newLab(t).withProvider()
	program := l.thing("value: x", "value: x")
	l.given(program)
	l.drift("a", "drifted")
	l.Expect(l.do(t.Context(), l.update(program)).Changes).To(Equal(run.Changes{Same: 3}), "an update trusts the state")
	l.Expect(l.valueOf("a")).To(Equal("drifted"))
	r := l.update(program)
	r.Options.Refresh = true
	result := l.do(t.Context(), r)
	l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
	l.Expect(l.valueOf("a")).To(Equal("x"))
	l.Expect(l.newCalls()).To(Equal([]string{"up", "up"}), "a refresh costs no process")
}

func TestUnexpectedChangesAreNamedAndLeftAlone(t *testing.T) {
	t.Parallel()
	l := newLab(t).withProvider()
	program := l.thing("value: x", "value: x", "value: x")
	expecting := func() run.Run {
		r := l.update(program)
		r.Options = run.Options{Refresh: true, ExpectNoRefreshChanges: true}
		return r
	}
	l.Expect(l.do(t.Context(), expecting()).Outcome).To(Equal(run.Succeeded))
	l.Expect(l.newCalls()).To(Equal([]string{"stack init", "up"}), "in a new stack nothing can have been changed")
	l.Expect(l.do(t.Context(), expecting()).Outcome).To(Equal(run.Succeeded))
	l.Expect(l.newCalls()).To(Equal([]string{"refresh", "up"}))

	l.drift("a", "drifted")
	l.Expect(cloud.Open(l.cloud).Remove(l.idOf("c"))).To(Succeed())
	before := l.backendFiles()
	result := l.do(t.Context(), expecting())
	l.Expect(result.Outcome).To(Equal(run.Drifted), result.Message)
	l.Expect(result.Message).To(ContainSubstring("lab:index:Thing (a) is changed, lab:index:Thing (c) is gone."))
	l.Expect(result.Message).NotTo(ContainSubstring("(b)"))
	l.Expect(result.Changes).To(Equal(run.Changes{}))
	l.Expect(result.Outputs).To(BeNil())
	l.Expect(l.newCalls()).To(Equal([]string{"refresh"}))
	l.Expect(l.backendFiles()).To(Equal(before), "neither written nor locked")
	l.Expect(l.valueOf("a")).To(Equal("drifted"))

	r := expecting()
	r.Options.ExpectNoRefreshChanges = false
	l.Expect(l.do(t.Context(), r).Outcome).To(Equal(run.Succeeded))
	l.Expect(l.valueOf("a") + l.valueOf("c")).To(Equal("xx"))
	l.Expect(l.do(t.Context(), expecting()).Outcome).To(Equal(run.Succeeded))
}

// Here the provider is a default provider of the engine.
func TestUnexpectedChangesAreFoundWithTheProgramRunToo(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	l := newLab(t).withProvider()
	expecting := func() run.Run {
		r := l.update("resources: {a: {type: 'lab:index:Thing', properties: {name: a, value: x}}}")
		r.Config = map[string]json.RawMessage{"lab:directory": json.RawMessage(strconv.Quote(l.cloud))}
		r.Options = run.Options{Refresh: true, ExpectNoRefreshChanges: true, RunProgram: true}
		return r
	}
	made := expecting()
	made.Options = run.Options{}
	l.givenRun(made, nil)
	l.Expect(l.do(t.Context(), expecting()).Outcome).To(Equal(run.Succeeded), "nothing was changed")
	l.drift("a", "drifted")
	result := l.do(t.Context(), expecting())
	l.Expect(result.Outcome).To(Equal(run.Drifted), result.Message)
	l.Expect(result.Message).To(ContainSubstring("lab:index:Thing (a) is changed."))
	l.Expect(l.valueOf("a")).To(Equal("drifted"))
	l.Expect(cloud.Open(l.cloud).Remove(l.idOf("a"))).To(Succeed())
	result = l.do(t.Context(), expecting())
	l.Expect(result.Outcome).To(Equal(run.Drifted), result.Message)
	l.Expect(result.Message).To(ContainSubstring("lab:index:Thing (a) is gone."))
}

func (l *lab) idOf(name string) string {
	l.Helper()
	things, err := cloud.Open(l.cloud).Things()
	l.Expect(err).NotTo(HaveOccurred())
	for _, thing := range things {
		if thing.Name == name {
			return thing.ID
		}
	}
	l.Fatalf("there is no thing %s", name)
	return ""
}

func TestOnlyTargetsAreUpdated(t *testing.T) {
	t.Parallel()
	l := newLab(t).withProvider()
	l.given(l.thing("value: x", "value: x", "value: x"))
	program := l.thing("value: y", "value: y", "value: y")
	r := l.update(program)
	r.Options.Targets = []string{urnOf("b")}
	result := l.do(t.Context(), r)
	l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
	l.Expect(l.valueOf("a") + l.valueOf("b") + l.valueOf("c")).To(Equal("xyx"))

	// c depends on a, and b is up to date.
	r = l.update(program)
	r.Options = run.Options{Targets: []string{urnOf("a")}, TargetDependents: true, Refresh: true}
	result = l.do(t.Context(), r)
	l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
	l.Expect(l.valueOf("a") + l.valueOf("b") + l.valueOf("c")).To(Equal("yyy"))

	r = l.destroy()
	r.Options.Targets = []string{urnOf("b")}
	l.Expect(l.do(t.Context(), r).Outcome).To(Equal(run.Succeeded))
	l.Expect(l.things()).To(BeZero(), "a destroy does not stop at the targets")
}

func TestAPreviewChangesNothing(t *testing.T) {
	t.Parallel()
	l := newLab(t).withProvider()
	preview := func(program string) run.Run {
		r := l.update(program)
		r.Operation = run.Preview
		return r
	}
	before := l.backendFiles()
	result := l.do(t.Context(), preview(l.thing("value: x")))
	l.Expect(result.Outcome).To(Equal(run.Failed))
	l.Expect(result.Message).To(ContainSubstring("a preview does not create it"))
	l.Expect(l.backendFiles()).To(HaveLen(len(before)+1), "the backend's own meta.yaml, and no stack")
	l.Expect(l.newCalls()).To(Equal([]string{"preview"}))

	l.given(l.thing("value: x", "value: x"))
	writeTree(t, l.backend, map[string]string{
		".pulumi/locks/organization/demo/dev/0.json": `{"pid":7,"username":"bob","hostname":"elsewhere","timestamp":"2026-01-02T03:04:05Z"}`,
	})
	before = l.backendFiles()
	result = l.do(t.Context(), preview(l.thing("value: y", "value: x", "value: x")))
	l.Expect(result.Outcome).To(Equal(run.Succeeded), "a preview needs no lock: %s", result.Message)
	l.Expect(result.Changes).To(Equal(run.Changes{Created: 1, Updated: 1, Same: 2}))
	l.Expect(result.Outputs).To(BeNil())
	l.Expect(l.newCalls()).To(Equal([]string{"preview"}))
	l.Expect(l.valueOf("a")).To(Equal("x"))

	l.drift("b", "drifted")
	r := preview(l.thing("value: x", "value: x"))
	r.Options.Refresh = true
	l.Expect(l.do(t.Context(), r).Changes).To(Equal(run.Changes{Updated: 1, Same: 2}))
	r = preview(l.thing("value: x", "value: x"))
	r.Options = run.Options{Refresh: true, ExpectNoRefreshChanges: true}
	l.Expect(l.do(t.Context(), r).Outcome).To(Equal(run.Drifted))
	l.Expect(l.backendFiles()).To(Equal(before), "neither written nor locked")
	l.Expect(l.valueOf("b")).To(Equal("drifted"))
}

func TestAPreviewOfAProgramThatFails(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	l := newLab(t)
	l.given(plainProgram)
	r := l.update("outputs: {o: \"${nothing}\"}")
	r.Operation = run.Preview
	result := l.do(t.Context(), r)
	l.Expect(result.Outcome).To(Equal(run.Failed))
	l.Expect(result.Message).To(ContainSubstring("nothing"))
}

// expired creates a stack whose provider only works with the settings in the program:
// those in the state are useless now, like an expired credential. It returns a run of
// that program, without an operation, and the cloud that the things have moved to.
func (l *lab) expired() (run.Run, *cloud.Cloud) {
	l.Helper()
	program := l.thing("value: x")
	l.given(program)
	moved := l.cloud + "-moved"
	l.Expect(os.Rename(l.cloud, moved)).To(Succeed())
	l.Expect(os.WriteFile(l.cloud, nil, 0o600)).To(Succeed())
	program = strings.ReplaceAll(program, "{directory: "+l.cloud+"}", "{directory: \"${place}\"}")
	r := l.update("config: {place: {type: string, secret: true}}\n" + program)
	r.Secrets = map[string]string{"place": moved}
	return r, cloud.Open(moved)
}

func TestADestroyCanRunTheProgram(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	l := newLab(t).withProvider()
	r, things := l.expired()
	r.Operation = run.Destroy
	l.Expect(l.do(t.Context(), r).Outcome).To(Equal(run.Failed))
	r.Options.RunProgram = true
	result := l.do(t.Context(), r)
	l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
	l.Expect(l.newCalls()).To(Equal([]string{"destroy", "destroy", "stack rm"}))
	l.Expect(things.Things()).To(BeEmpty())
}

func TestARecoveryAndARefreshCanRunTheProgram(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	l := newLab(t).withProvider()
	r, things := l.expired()
	l.interrupt("a")
	r.Operation = run.Recover
	r.Interrupted = []run.Interrupted{{ID: "lost", Host: "gone"}}
	result := l.do(t.Context(), r)
	l.Expect(result.Outcome).To(Equal(run.Failed))
	l.Expect(result.Interrupted).To(BeTrue(), "the state does not show any more what was in flight")
	l.Expect(l.state()).NotTo(ContainSubstring("pending_operations"))
	r.Interrupted = append(r.Interrupted, run.Interrupted{ID: "lost-too", Operation: run.Recover, Host: "gone"})
	r.Options.RunProgram = true
	l.newCalls()
	check := r
	check.Operation, check.Exists = run.Preview, true
	check.Options.Refresh, check.Options.ExpectNoRefreshChanges = true, true
	result = l.do(t.Context(), check)
	l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
	l.Expect(l.newCalls()).To(Equal([]string{"refresh", "preview"}), "a provider with other settings is no drift")
	result = l.do(t.Context(), r)
	l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
	l.Expect(l.newCalls()).To(Equal([]string{"stack export", "refresh", "stack export"}))
	l.Expect(things.Things()).To(HaveLen(1))

}

func TestARecoveryOfWhatWasInFlightCanRunTheProgram(t *testing.T) {
	t.Parallel()
	l := newLab(t).withProvider()
	r, things := l.expired()
	l.interrupt("a")
	r.Operation, r.Options.RunProgram = run.Recover, true
	r.Interrupted = []run.Interrupted{{ID: "lost", Host: "gone"}}
	result := l.do(t.Context(), r)
	l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
	l.Expect(l.newCalls()).To(Equal([]string{"stack export", "refresh", "stack export", "stack export"}))
	l.Expect(l.state()).NotTo(ContainSubstring("pending_operations"))
	l.Expect(things.Things()).To(HaveLen(1))
}

func TestADestroyCanRefresh(t *testing.T) {
	t.Parallel()
	l := newLab(t).withProvider()
	l.given(l.thing("value: x", "failures: {delete: \"not now\"}"))
	l.Expect(cloud.Open(l.cloud).Remove(l.idOf("b"))).To(Succeed())
	l.newCalls()
	r := l.destroy()
	r.Options.Refresh = true
	result := l.do(t.Context(), r)
	l.Expect(result.Outcome).To(Equal(run.Succeeded), "what is gone is not deleted again: %s", result.Message)
	l.Expect(l.newCalls()).To(Equal([]string{"destroy", "stack rm"}))
}

func TestABackendOutOfReach(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	for name, backend := range map[string]string{
		"an object store": "s3://bucket?endpoint=http://127.0.0.1:1&region=us-east-1&s3ForcePathStyle=true",
		"a Pulumi Cloud":  "https://127.0.0.1:1",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			for _, operation := range []run.Operation{run.Update, run.Preview, run.Destroy, run.Recover} {
				r := l.update(plainProgram)
				r.Backend, r.Exists, r.Operation = backend, true, operation
				r.Env["PULUMI_ACCESS_TOKEN"] = "x"
				r.Env["AWS_ACCESS_KEY_ID"], r.Env["AWS_SECRET_ACCESS_KEY"] = "x", "y"
				elsewhere := " (the stack was last seen in another backend, file://" + l.backend + ")"
				if operation != run.Preview {
					r.KnownBackend = "file://" + l.backend
				}
				result := l.do(t.Context(), r)
				l.Expect(result.Outcome).To(Equal(run.BackendUnavailable), "%s: %s", operation, result.Message)
				l.Expect(result.Message).To(ContainSubstring("connection refused"))
				if operation != run.Preview {
					l.Expect(result.Message).To(HaveSuffix(elsewhere))
				} else {
					l.Expect(result.Message).NotTo(ContainSubstring("another backend"))
				}
				l.Expect(result.Interrupted).To(BeFalse())
			}
		})
	}
}

func TestARegistryOutOfReach(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	l := newLab(t).withStack()
	l.driver.NoPluginDownload = false
	result := l.do(t.Context(), l.update(
		"resources: {a: {type: \"random:index:Id\", options: {version: 4.0.0, pluginDownloadURL: \"http://127.0.0.1:1\"}}}\n"))
	l.Expect(result.Outcome).To(Equal(run.RegistryUnavailable), result.Message)
	l.Expect(l.locks()).To(BeEmpty())
}
