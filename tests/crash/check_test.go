// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package crash

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	. "github.com/onsi/gomega"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/cloud"
)

// totals of all rounds.
type totals struct {
	killed                  map[victim]int
	missed, settled         int
	named, namedThatExisted int
	leftOver                int
}

func (t *totals) kill(v victim) {
	if t.killed == nil {
		t.killed = map[victim]int{}
	}
	t.killed[v]++
}

func (t *totals) String() string {
	var text strings.Builder
	for _, v := range victims() {
		fmt.Fprintf(&text, "killed %-16s %4d times\n", string(v)+":", t.killed[v])
	}
	fmt.Fprintf(&text, "no run was there to be killed: %d times\n", t.missed)
	fmt.Fprintf(&text, "settled: %d times; creations named as unknown: %d, of which existed: %d\n", t.settled, t.named, t.namedThatExisted)
	fmt.Fprintf(&text, "things, locks and processes that nobody named: %d\n", t.leftOver)
	return text.String()
}

// state is what the backend has of the stack.
type state struct {
	Checkpoint struct {
		Latest struct {
			Resources []struct{ URN, ID, Type string }
			Pending   []struct {
				Type     string
				Resource struct{ URN string }
			} `json:"pending_operations"`
		}
	}
}

func (r *round) state() state {
	text, err := os.ReadFile(filepath.Join(r.backend(), ".pulumi", "stacks", r.name, "dev.json"))
	r.Expect(err).NotTo(HaveOccurred(), "the checkpoint can be read")
	var s state
	r.Expect(json.Unmarshal(text, &s)).To(Succeed(), "the checkpoint is whole")
	return s
}

// known are the things in the state, by ID.
func (r *round) known() map[string]bool {
	known := map[string]bool{}
	for _, resource := range r.state().Checkpoint.Latest.Resources {
		if resource.Type == "lab:index:Thing" {
			r.Expect(known).NotTo(HaveKey(resource.ID), "each is there once")
			known[resource.ID] = true
		}
	}
	return known
}

// nameOf is the name of a thing in a URN: its logical name is its name.
func nameOf(urn string) string { return urn[strings.LastIndex(urn, "::")+2:] }

// checkNames holds what the Stack names against the cloud and the state: all
// creations of unknown outcome must be named, and nothing else.
func (r *round) checkNames(stack *v1.Stack, v victim) {
	var named []string
	for _, urn := range stack.Status.UnknownCreates {
		named = append(named, nameOf(urn))
	}
	r.named = append(r.named, named...)
	r.sum.named += len(named)

	known := r.known()
	for _, urn := range stack.Status.UnknownCreates {
		for _, resource := range r.state().Checkpoint.Latest.Resources {
			r.Expect(resource.URN).NotTo(Equal(urn), "what is in the state is not unknown")
		}
	}
	existing, err := r.cloud().Things()
	r.Expect(err).NotTo(HaveOccurred())
	for _, thing := range existing {
		if !known[thing.ID] {
			r.Expect(r.named).To(ContainElement(thing.Name), "it exists, and the state does not know it")
			r.sum.namedThatExisted++
		}
	}
	// A provider that is killed before it has noted the beginning leaves nothing
	// to hold its names against.
	if v == theController || v == theCLI {
		begun := r.begun()
		for _, pending := range r.state().Checkpoint.Latest.Pending {
			begun[nameOf(pending.Resource.URN)] = true
		}
		for _, name := range named {
			r.Expect(begun).To(HaveKey(name), "no creation of it was begun")
		}
	}
}

// begun are the names of the things whose creation was ever begun.
func (r *round) begun() map[string]bool {
	begun := map[string]bool{}
	journal, err := r.cloud().Journal()
	r.Expect(err).NotTo(HaveOccurred())
	for _, entry := range journal {
		if entry.Op == cloud.Create {
			begun[entry.Name] = true
		}
	}
	return begun
}

// checkCloud counts what exists after the Stack has settled.
func (r *round) checkCloud() {
	known := r.known()
	r.Expect(r.state().Checkpoint.Latest.Pending).To(BeEmpty())
	existing, err := r.cloud().Things()
	r.Expect(err).NotTo(HaveOccurred())
	count := map[string]int{}
	for _, thing := range existing {
		if known[thing.ID] {
			count[thing.Name]++
		}
	}
	for _, thing := range r.wanted {
		r.Expect(count[thing.name]).To(Equal(1), "%s exists, once", thing.name)
		if !slices.Contains(r.named, thing.name) {
			r.Expect(r.cloud().Created(thing.name)).To(Equal(1), "%s was created a second time without having been named", thing.name)
		}
	}
	r.Expect(known).To(HaveLen(len(r.wanted)))
	unnamed := r.notNamed(slices.DeleteFunc(existing, func(t cloud.Thing) bool { return known[t.ID] }))
	r.sum.leftOver += len(unnamed)
	r.Expect(unnamed).To(BeEmpty(), "it exists, the state does not know it, and nobody was told")

	locks := r.locks()
	r.sum.leftOver += len(locks)
	r.Expect(locks).To(BeEmpty())
	r.Eventually(func() []int { return r.runProcesses("") }).Should(BeEmpty(), "no process of a run lives on")
}

// notNamed leaves the things that no Stack has named as unknown.
func (r *round) notNamed(things []cloud.Thing) []cloud.Thing {
	return slices.DeleteFunc(things, func(t cloud.Thing) bool { return slices.Contains(r.named, t.Name) })
}

// locks are the lock files in the backend.
func (r *round) locks() []string {
	var found []string
	err := filepath.WalkDir(filepath.Join(r.backend(), ".pulumi", "locks"), func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && strings.HasSuffix(path, ".json") {
			found = append(found, path)
		}
		return err
	})
	if err != nil && !os.IsNotExist(err) {
		r.Expect(err).NotTo(HaveOccurred())
	}
	return found
}
