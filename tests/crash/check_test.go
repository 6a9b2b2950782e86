// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package crash

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	. "github.com/onsi/gomega"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/cloud"
)

// totals of all rounds.
type totals struct {
	mu                      sync.Mutex
	killed                  map[victim]int
	missed, settled         int
	named, namedThatExisted int
	leftOver                int
	ended, failures         int
}

// add counts.
func (t *totals) add(count func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	count()
}

func (t *totals) end(failed bool) {
	t.add(func() {
		t.ended++
		if failed {
			t.failures++
		}
	})
}

func (t *totals) failed() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.failures > 0
}

func (t *totals) kill(v victim) {
	t.add(func() {
		if t.killed == nil {
			t.killed = map[victim]int{}
		}
		t.killed[v]++
	})
}

func (t *totals) String() string {
	var text strings.Builder
	fmt.Fprintf(&text, "rounds: %d, of which failed: %d\n", t.ended, t.failures)
	for _, v := range victims() {
		fmt.Fprintf(&text, "killed %-16s %4d times\n", string(v)+":", t.killed[v])
	}
	fmt.Fprintf(&text, "no run was there to be killed: %d times\n", t.missed)
	fmt.Fprintf(&text, "settled: %d times; creations named as unknown: %d; things left that were named: %d\n", t.settled, t.named, t.namedThatExisted)
	fmt.Fprintf(&text, "things, locks and processes that nobody named: %d\n", t.leftOver)
	return text.String()
}

// checkNames compares what the Stack names with the cloud and the state: it must name all
// creations of unknown outcome, and nothing else.
func (r *round) checkNames(stack *v1.Stack) {
	var named []string
	for _, urn := range stack.Status.UnknownCreates {
		named = append(named, nameOf(urn))
	}
	r.named = append(r.named, named...)
	r.sum.add(func() { r.sum.named += len(named) })

	inState := map[string]bool{}
	for _, resource := range r.state().Checkpoint.Latest.Resources {
		inState[resource.URN] = true
	}
	for _, urn := range stack.Status.UnknownCreates {
		r.Expect(inState).NotTo(HaveKey(urn), "what is in the state is not unknown")
	}
	known := r.known()
	existing, err := r.cloud().Things()
	r.Expect(err).NotTo(HaveOccurred())
	for _, thing := range existing {
		if !known[thing.ID] {
			r.Expect(r.named).To(ContainElement(thing.Name), "it exists, and the state does not know it")
		}
	}
	// Each must have started: according to the journal of the cloud, or to the engine's
	// events if the provider was killed before it wrote that.
	started := r.started()
	for _, pending := range r.state().Checkpoint.Latest.Pending {
		started[nameOf(pending.Resource.URN)] = true
	}
	for _, name := range r.keptCreates() {
		started[name] = true
	}
	log := r.log()
	for _, name := range named {
		r.Expect(started[name] || strings.Contains(log, "("+name+"): create started")).To(BeTrue(), "no creation of %s was started", name)
	}
}

// started returns the names of all things whose creation ever began.
func (r *round) started() map[string]bool {
	started := map[string]bool{}
	journal, err := r.cloud().Journal()
	r.Expect(err).NotTo(HaveOccurred())
	for _, entry := range journal {
		if entry.Op == cloud.Create {
			started[entry.Name] = true
		}
	}
	return started
}

// log returns what the controller has logged of the Stack.
func (r *round) log() string {
	text, err := os.ReadFile(r.s.ControllerLog())
	r.Expect(err).NotTo(HaveOccurred())
	var log strings.Builder
	for line := range strings.Lines(string(text)) {
		var entry struct{ Msg, Name string }
		if json.Unmarshal([]byte(line), &entry) == nil && entry.Name == r.name {
			log.WriteString(entry.Msg + "\n")
		}
	}
	return log.String()
}

// namedInLog returns the things that a recovery has forgotten, according to the log.
func (r *round) namedInLog() []string {
	var named []string
	for line := range strings.Lines(r.log()) {
		if urn, ok := strings.CutPrefix(strings.TrimSpace(line), "forgetting a creation of unknown outcome: "); ok {
			named = append(named, nameOf(urn))
		}
	}
	return named
}

// checkCloud counts what exists after the Stack has settled.
func (r *round) checkCloud() {
	known := r.known()
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
	locks := r.locks()
	r.sum.add(func() {
		r.sum.leftOver += len(unnamed) + len(locks)
		r.sum.settled++
	})
	r.Expect(unnamed).To(BeEmpty(), "it exists, the state does not know it, and no message names it")
	r.checkQuiet()
}

// notNamed returns the things that no Stack ever named as unknown.
func (r *round) notNamed(things []cloud.Thing) []cloud.Thing {
	return slices.DeleteFunc(things, func(t cloud.Thing) bool { return slices.Contains(r.named, t.Name) })
}
