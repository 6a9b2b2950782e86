// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"

	"github.com/flux-pulumi/pulumi-controller/internal/mask"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// at is a resource before or after a step.
type at struct {
	id                 string
	delete, retain     bool
	external, protect  bool
	provider           string
	component, partial bool
}

func (a *at) state() *apitype.StepEventStateMetadata {
	if a == nil {
		return nil
	}
	return &apitype.StepEventStateMetadata{
		Custom: !a.component, ID: a.id, Delete: a.delete, RetainOnDelete: a.retain, External: a.external,
		Protect: a.protect, Provider: a.provider,
	}
}

// log writes events as the engine does.
type log struct{ lines []string }

func (l *log) meta(op apitype.OpType, urn string, old, now *at) apitype.StepEventMetadata {
	logical := true
	switch op {
	case apitype.OpCreateReplacement, apitype.OpDeleteReplaced, apitype.OpDiscardReplaced, apitype.OpReadReplacement,
		apitype.OpImportReplacement, apitype.OpRefresh, apitype.OpRemovePendingReplace:
		logical = false
	}
	return apitype.StepEventMetadata{Op: op, URN: urn, Type: strings.Split(urn, "::")[2], Old: old.state(), New: now.state(), Logical: logical, Provider: "p"}
}

func (l *log) add(event apitype.EngineEvent) {
	line, err := json.Marshal(event)
	if err != nil {
		panic(err)
	}
	l.lines = append(l.lines, string(line))
}

func (l *log) start(op apitype.OpType, urn string, old, now *at) {
	l.add(apitype.EngineEvent{ResourcePreEvent: &apitype.ResourcePreEvent{Metadata: l.meta(op, urn, old, now)}})
}

// did is a step that succeeded.
func (l *log) did(op apitype.OpType, urn string, old, now *at) {
	l.start(op, urn, old, now)
	l.add(apitype.EngineEvent{ResOutputsEvent: &apitype.ResOutputsEvent{Metadata: l.meta(op, urn, old, now)}})
}

func (l *log) failed(op apitype.OpType, urn string, old, now *at) {
	l.start(op, urn, old, now)
	status := 0
	if now != nil && now.partial {
		status = 1
	}
	l.add(apitype.EngineEvent{ResOpFailedEvent: &apitype.ResOpFailedEvent{Metadata: l.meta(op, urn, old, now), Status: status}})
}

// read reads the events of a run.
func (l *log) read() *events {
	e := &events{mask: mask.New(nil)}
	readAll(e, l.lines...)
	return e
}

func TestEventsCountWhatBecameOfEachResource(t *testing.T) {
	one, two := &at{id: "1"}, &at{id: "2"}
	old, kept, oldKept := &at{id: "1", delete: true}, &at{id: "1", retain: true}, &at{id: "1", delete: true, retain: true}
	part, none := &at{component: true}, &at{}
	const urn, other = thingURN, thingURN + "2"
	for name, test := range map[string]struct {
		events func(l *log)
		want   run.Changes
	}{
		"nothing": {func(*log) {}, run.Changes{}},
		"a creation, an import, an update and what is as it was": {func(l *log) {
			l.did("create", urn, nil, one)
			l.did("import", other, nil, one)
			l.did("update", urn+"3", one, one)
			l.did("same", urn+"4", one, one)
			l.did("read", urn+"5", nil, &at{id: "1", external: true})
		}, run.Changes{Created: 2, Updated: 1, Same: 1}},
		"an import that is updated at once": {func(l *log) {
			l.did("import", urn, nil, one)
			l.did("update", urn, one, one)
		}, run.Changes{Created: 1}},
		"a resource that is created, and does not become ready": {func(l *log) {
			l.failed("create", urn, nil, &at{id: "1", partial: true})
		}, run.Changes{Created: 1}},
		"what fails": {func(l *log) {
			l.failed("create", urn, nil, none)
			l.failed("update", other, one, one)
			l.failed("delete", urn+"3", one, nil)
			l.failed("delete", urn+"4", kept, nil)
		}, run.Changes{}},
		"what has started": {func(l *log) { l.start("create", urn, nil, none) }, run.Changes{}},
		"what is no target, and was never created": {func(l *log) {
			l.did("same", urn, none, none)
		}, run.Changes{}},
		"a deletion, and one that leaves the resource in place": {func(l *log) {
			l.did("delete", urn, one, nil)
			l.did("delete", other, kept, nil)
		}, run.Changes{Deleted: 1, Retained: 1}},
		"a resource that the program only reads from now on": {func(l *log) {
			l.did("read", urn, one, &at{id: "1", external: true})
			l.did("read", other, kept, &at{id: "1", external: true})
			l.did("read", urn+"3", &at{id: "1", external: true}, &at{id: "1", external: true})
		}, run.Changes{Retained: 2}},
		"a replacement": {func(l *log) {
			l.did("create-replacement", urn, old, two)
			l.did("replace", urn, old, two)
			l.did("delete-replaced", urn, old, nil)
		}, run.Changes{Replaced: 1}},
		"an import in the place of another": {func(l *log) {
			l.did("import-replacement", urn, two, two)
			l.did("replace", urn, old, two)
			l.did("delete-replaced", urn, old, nil)
		}, run.Changes{Replaced: 1}},
		"a replacement that leaves the old one in place": {func(l *log) {
			l.did("create-replacement", urn, oldKept, two)
			l.did("replace", urn, oldKept, two)
			l.did("delete-replaced", urn, oldKept, nil)
		}, run.Changes{Replaced: 1, Retained: 1}},
		"a replacement whose old one cannot be deleted": {func(l *log) {
			l.did("create-replacement", urn, old, two)
			l.did("replace", urn, old, two)
			l.failed("delete-replaced", urn, old, nil)
		}, run.Changes{Replaced: 1}},
		"the deletion of that in the next run": {func(l *log) {
			l.did("same", urn, two, two)
			l.did("delete-replaced", urn, old, nil)
		}, run.Changes{Deleted: 1, Same: 1}},
		"another replacement beside that": {func(l *log) {
			l.did("create-replacement", urn, &at{id: "2", delete: true}, &at{id: "3"})
			l.did("replace", urn, &at{id: "2", delete: true}, &at{id: "3"})
			l.did("delete-replaced", urn, old, nil)
			l.failed("delete-replaced", urn, &at{id: "2", delete: true}, nil)
		}, run.Changes{Replaced: 1, Deleted: 1}},
		"a replacement that fails before anything was deleted": {func(l *log) {
			l.failed("create-replacement", urn, one, none)
		}, run.Changes{}},
		"a replacement that deletes first": {func(l *log) {
			l.did("delete-replaced", urn, one, nil)
			l.did("replace", urn, one, none)
			l.did("create-replacement", urn, one, two)
		}, run.Changes{Replaced: 1}},
		"one that then cannot create": {func(l *log) {
			l.did("delete-replaced", urn, one, nil)
			l.did("replace", urn, one, none)
			l.failed("create-replacement", urn, one, none)
		}, run.Changes{Deleted: 1}},
		"and creates in the next run": {func(l *log) {
			l.did("replace", urn, one, none)
			l.did("create-replacement", urn, one, two)
		}, run.Changes{Created: 1}},
		"or is removed from the program": {func(l *log) {
			l.did("remove-pending-replace", urn, one, nil)
		}, run.Changes{}},
		"one that deletes first, and leaves the old one in place": {func(l *log) {
			l.did("delete-replaced", urn, kept, nil)
			l.did("replace", urn, kept, none)
			l.did("create-replacement", urn, kept, two)
		}, run.Changes{Replaced: 1, Retained: 1}},
		"what depended on it, and is not in the program any more": {func(l *log) {
			l.did("delete-replaced", other, one, nil)
			l.did("delete-replaced", urn, one, nil)
			l.did("replace", urn, one, none)
			l.did("create-replacement", urn, one, two)
		}, run.Changes{Replaced: 1, Deleted: 1}},
		"a resource that was only read, and is the stack's own now": {func(l *log) {
			read := &at{id: "1", external: true, delete: true}
			l.did("create-replacement", urn, read, two)
			l.did("replace", urn, read, two)
			l.did("discard-replaced", urn, read, nil)
		}, run.Changes{Created: 1}},
		"one that was the stack's own, and another is read now": {func(l *log) {
			l.did("read-replacement", urn, old, &at{id: "2", external: true})
			l.did("replace", urn, old, &at{id: "2", external: true})
			l.did("delete-replaced", urn, old, nil)
		}, run.Changes{Deleted: 1}},
		"what is read no more": {func(l *log) {
			l.did("discard", urn, &at{id: "1", external: true}, nil)
		}, run.Changes{}},
		"a resource that is gone, and is created again": {func(l *log) {
			l.did("refresh", urn, one, nil)
			l.did("create", urn, nil, two)
		}, run.Changes{Created: 1}},
		"a destroy that runs the program": {func(l *log) {
			l.did("same", urn, one, one)
			l.did("same", other, kept, kept)
			l.did("create", urn+"3", nil, one)
			l.did("delete", urn, one, nil)
			l.did("delete", other, kept, nil)
			l.did("delete", urn+"3", one, nil)
		}, run.Changes{Deleted: 1, Retained: 1}},
		"components, most of which only begin": {func(l *log) {
			l.start("create", urn, nil, part)
			l.did("create", other, nil, part)
			l.start("same", urn+"3", part, part)
			l.did("delete", urn+"4", &at{component: true, retain: true}, nil)
			l.failed("create", urn+"5", nil, part)
		}, run.Changes{Created: 2, Same: 1, Deleted: 1}},
		"the replacement of a component": {func(l *log) {
			l.start("create-replacement", urn, part, part)
			l.start("replace", urn, part, part)
			l.start("delete-replaced", urn, &at{component: true, delete: true}, nil)
			l.start("delete-replaced", other, part, nil)
			l.start("replace", other, part, part)
			l.start("create-replacement", other, part, part)
		}, run.Changes{Replaced: 2}},
		"no default providers, and no stack": {func(l *log) {
			l.did("create", "urn:pulumi:dev::demo::pulumi:providers:lab::default_0_1_0", nil, one)
			l.did("create", stackURN, nil, part)
		}, run.Changes{}},
		"nothing that is certain once an event is lost": {func(l *log) {
			l.did("create", urn, nil, one)
			l.lines = append(l.lines, "{")
		}, run.Changes{Unknown: true}},
	} {
		t.Run(name, func(t *testing.T) {
			l := &log{}
			test.events(l)
			NewWithT(t).Expect(l.read().changes()).To(Equal(test.want))
		})
	}
}

// What pulumi refresh finds is reported like a step, but is none.
func TestARefreshRetainsNothing(t *testing.T) {
	l := &log{}
	meta := l.meta("delete", thingURN, &at{id: "1", retain: true}, nil)
	meta.Logical = false
	l.start("refresh", thingURN, &at{id: "1", retain: true}, &at{id: "1"})
	l.add(apitype.EngineEvent{ResOutputsEvent: &apitype.ResOutputsEvent{Metadata: meta}})
	NewWithT(t).Expect(l.read().changes()).To(Equal(run.Changes{Deleted: 1}))
}

func TestTooManyResourcesAreNotCountedWrongly(t *testing.T) {
	var c counts
	for i := range maxCounted + 1 {
		c.set(fmt.Sprint(i), created)
	}
	NewWithT(t).Expect(c.changes().Unknown).To(BeTrue())
}

// managed is a resource in the state.
type managed struct {
	at
	// recreates is set if it was deleted to be created again, which failed.
	recreates bool
}

// world is a state, and the IDs in its cloud.
type world struct {
	*rand.Rand
	*log
	state map[string]managed
	old   map[string]managed // by ID
	urns  map[string]string  // of old
	cloud map[string]bool
	ids   int
}

func (w *world) create(urn string, partial bool) *at {
	w.ids++
	made := at{id: fmt.Sprint(w.ids), retain: w.IntN(3) == 0, partial: partial}
	w.cloud[made.id] = true
	w.state[urn] = managed{at: made}
	return &made
}

// remove deletes a resource from the cloud, unless it is retained.
func (w *world) remove(a at) {
	if !a.retain && !a.external {
		delete(w.cloud, a.id)
	}
}

// replaceFirst creates before it deletes.
func (w *world) replaceFirst(urn string, op apitype.OpType, now at) {
	switch old := now; w.IntN(4) {
	case 0:
		w.failed(op, urn, &now, &at{})
	case 1:
		old.delete = true
		w.old[old.id], w.urns[old.id] = managed{at: old}, urn
		w.failed(op, urn, &old, w.create(urn, true))
	default:
		old.delete = true
		w.old[old.id], w.urns[old.id] = managed{at: old}, urn
		made := w.create(urn, false)
		w.did(op, urn, &old, made)
		w.did("replace", urn, &old, made)
	}
}

// createAgain is the end of a replacement that deletes first.
func (w *world) createAgain(urn string, was at) {
	w.did("replace", urn, &was, &at{})
	if w.IntN(2) == 0 {
		w.failed("create-replacement", urn, &was, &at{})
		return
	}
	w.did("create-replacement", urn, &was, w.create(urn, false))
}

// step does something with a resource that the engine may do.
func (w *world) step(urn string) {
	has, ok := w.state[urn]
	now := has.at
	switch kind := w.IntN(8); {
	case !ok && kind == 0:
		w.failed("create", urn, nil, &at{})
	case !ok && kind == 1:
		w.failed("create", urn, nil, w.create(urn, true))
	case !ok && kind == 2:
		w.did("import", urn, nil, w.create(urn, false))
	case !ok && kind == 3:
		w.did("same", urn, &at{}, &at{})
	case !ok && kind == 4:
		read := w.create(urn, false)
		read.external = true
		w.state[urn] = managed{at: *read}
		w.did("read", urn, nil, read)
	case !ok:
		w.did("create", urn, nil, w.create(urn, false))
	case has.recreates && kind < 2:
		w.did("remove-pending-replace", urn, &now, nil)
		delete(w.state, urn)
	case has.recreates:
		w.createAgain(urn, now)
	case now.external && kind < 2:
		w.did("discard", urn, &now, nil)
		delete(w.state, urn)
	case now.external && kind < 4:
		w.did("read", urn, &now, &now)
	case now.external:
		w.replaceFirst(urn, "create-replacement", now)
	case kind == 0:
		w.did("update", urn, &now, &now)
	case kind == 1:
		w.failed("update", urn, &now, &now)
	case kind == 2 && w.IntN(2) == 0:
		w.failed("delete", urn, &now, nil)
	case kind == 2:
		w.did("delete", urn, &now, nil)
		w.remove(now)
		delete(w.state, urn)
	case kind == 3:
		w.replaceFirst(urn, "create-replacement", now)
	case kind == 4 && w.IntN(3) == 0:
		w.failed("delete-replaced", urn, &now, nil)
	case kind == 4:
		w.did("delete-replaced", urn, &now, nil)
		w.remove(now)
		w.state[urn] = managed{at: now, recreates: true}
		if w.IntN(4) > 0 {
			w.createAgain(urn, now)
		}
	case kind == 5 && w.IntN(2) == 0:
		old, read := now, w.create(urn, false)
		old.delete, read.external = true, true
		w.old[old.id], w.urns[old.id] = managed{at: old}, urn
		w.state[urn] = managed{at: *read}
		w.did("read-replacement", urn, &old, read)
		w.did("replace", urn, &old, read)
	case kind == 5:
		delete(w.cloud, now.id)
		w.did("refresh", urn, &now, nil)
		w.did("create", urn, nil, w.create(urn, false))
	default:
		w.did("same", urn, &now, &now)
	}
}

// deleteOld deletes what was replaced, if the run gets that far.
func (w *world) deleteOld() {
	for _, id := range slices.Sorted(maps.Keys(w.old)) {
		old, op := w.old[id].at, apitype.OpDeleteReplaced
		if old.external {
			op = apitype.OpDiscardReplaced
		}
		switch w.IntN(4) {
		case 0:
		case 1:
			w.failed(op, w.urns[id], &old, nil)
		default:
			w.did(op, w.urns[id], &old, nil)
			w.remove(old)
			delete(w.old, id)
		}
	}
}

// owned returns the IDs of the stack's own resources that exist, by URN.
func (w *world) owned() map[string]string {
	owned := map[string]string{}
	for urn, one := range w.state {
		if !one.external && !one.recreates {
			owned[urn] = one.id
		}
	}
	return owned
}

// The counts of a run are those of a cloud before and after it.
func TestTheCountsAreThoseOfTheCloud(t *testing.T) {
	for seed := range uint64(2000) {
		w := &world{
			Rand: rand.New(rand.NewPCG(seed, 1)), state: map[string]managed{}, old: map[string]managed{},
			urns: map[string]string{}, cloud: map[string]bool{},
		}
		for range 5 {
			w.log = &log{}
			before, oldBefore, cloudBefore := w.owned(), maps.Clone(w.old), maps.Clone(w.cloud)
			touched := map[string]bool{}
			for n := range w.IntN(5) {
				urn := fmt.Sprintf("%s%d", thingURN, n)
				w.step(urn)
				touched[urn] = true
			}
			w.deleteOld()
			after := w.owned()

			var want run.Changes
			for urn := range touched {
				was, now := before[urn], after[urn]
				switch {
				case now != "" && now == was:
					// Whether it was updated is not seen in the cloud.
				case now != "" && was == "" || now != "" && !cloudBefore[was]:
					want.Created++
				case now != "" && w.gone(urn, was):
					want.Created++
				case now != "":
					want.Replaced++
				case was != "" && !w.cloud[was]:
					want.Deleted++
				}
				if _, pending := w.old[was]; was != "" && was != now && w.cloud[was] && !pending {
					want.Retained++
				}
			}
			for id, old := range oldBefore {
				if _, pending := w.old[id]; pending || old.external {
					continue
				}
				if w.cloud[id] {
					want.Retained++
				} else {
					want.Deleted++
				}
			}
			got := w.read().changes()
			got.Updated, got.Same = 0, 0
			NewWithT(t).Expect(got).To(Equal(want), "seed %d: %v", seed, w.lines)
		}
	}
}

// gone reports whether a refresh has found that the resource is gone.
func (w *world) gone(urn, id string) bool {
	return slices.ContainsFunc(w.lines, func(line string) bool {
		var event apitype.EngineEvent
		_ = json.Unmarshal([]byte(line), &event)
		done := event.ResOutputsEvent
		return done != nil && done.Metadata.Op == apitype.OpRefresh && done.Metadata.URN == urn && done.Metadata.Old.ID == id
	})
}
